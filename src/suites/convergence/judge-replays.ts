import { basename } from 'node:path'
import { worstMetrics } from '../../compare/pairs/metrics.ts'
import type { Recording } from '../../domain/convergence.ts'
import type { CaseError } from '../../domain/result.ts'
import { cleanText } from '../../domain/text.ts'
import type { Judgement } from '../../runs/contract.ts'
import type { CheckpointFacts } from './config/contract.ts'
import type { WindowJudgement } from './curves/contract.ts'
import { judgeWindow } from './curves/judge-window.ts'
import { describeSeries, explainWindow, traceCurve } from './describe-window.ts'
import type { PlannedTest } from './planned-test.ts'
import { isHealthy, programError } from './program-error.ts'
import { describeProvenance } from './provenance.ts'
import type { Replay } from './replay.ts'
import { isRedone } from './replay-window.ts'
import { chooseRules, readCheckpointFacts, type WindowUnderTest } from './window-under-test.ts'

/** Compares what replays of a window logged with what was recorded; no program is needed for it. */
export function compareReplays(window: WindowUnderTest, replays: readonly Replay[]): WindowJudgement {
  const { entry, windows } = window
  // A replay that broke off at a value that is not finite is judged up to there: that it has no more steps is no news.
  const broken = replays.flatMap(({ brokeAt }) => brokeAt?.step ?? [])
  const last = Math.min(Number.POSITIVE_INFINITY, ...broken)
  const upTo = (recording: Recording) => new Map([...recording].filter(([step]) => step <= last))
  const samples = readCheckpointFacts(window)?.samples ?? []
  const rules = chooseRules(window)
  const judged = judgeWindow({
    rules,
    recorded: upTo(entry.results),
    samples: samples.map(({ results }) => upTo(results)),
    replays: replays.map(({ recording }) => upTo(recording)),
    replayNames: replays.map(({ seed }) => `seed ${seed}`),
    windows,
  })
  const metrics = Object.keys(rules)
  const steps = [...entry.results.values()].filter((logged) => metrics.some((name) => Object.hasOwn(logged, name)))
  return { ...judged, coverage: { ...judged.coverage, expected: steps.length * replays.length } }
}

/** The judgement, from the comparison and from how the programs ended. */
export function judgeReplays(
  window: WindowUnderTest,
  replays: readonly Replay[],
  judged: WindowJudgement,
  seeds: readonly number[],
): Judgement {
  const facts = readCheckpointFacts(window)
  const failed = replays.find(({ outcome }) => !isHealthy(outcome))
  const error = failed ? programError(failed) : nothingLogged(judged, replays)
  // Of a program that logged nothing there is nothing to show beside its error.
  const shown = judged.coverage.compared > 0 ? judged.series : []
  const isBroken = replays.some(({ brokeAt }) => brokeAt !== null)
  const outputs = shown.map(describeSeries)
  return {
    verdict: error ? 'error' : isBroken && judged.verdict === 'pass' ? 'fail' : judged.verdict,
    ...reasonFor(window, judged, replays, error),
    ...(error && { error }),
    flags: flagsOf(replays, facts),
    coverage: judged.coverage,
    metrics: worstMetrics(outputs),
    outputs,
    worst: [],
    curves: shown.map((series) => traceCurve(series, replays.length)),
    figures: [...figuresOf(window, replays), ...seedless(window.planned, seeds), ...(facts?.warnings ?? [])],
    measurements: measurementsOf(window, replays),
  }
}

function nothingLogged({ coverage }: WindowJudgement, replays: readonly Replay[]): CaseError | null {
  if (coverage.expected === 0 || replays.some(({ recording }) => recording.size > 0)) return null
  const message = `the program ended without logging any of the ${coverage.expected} recorded steps`
  return { stage: 'run', side: 'target', message }
}

function reasonFor(
  window: WindowUnderTest,
  judged: WindowJudgement,
  replays: readonly Replay[],
  error: CaseError | null,
) {
  const hints = judged.verdict === 'pass' ? [] : offByOne(window, replays)
  const reason = [error ? undefined : explainWindow(judged), ...replays.flatMap(breakText), ...hints]
    .filter(Boolean)
    .join('; ')
  return reason === '' ? {} : { reason }
}

function breakText({ brokeAt, seed }: Replay): string[] {
  if (brokeAt === null) return []
  const { step, metric, text } = brokeAt
  const who = seed === null ? '' : `seed ${seed} `
  return [
    `${who}ended at step ${step}, where ${cleanText(metric, 60)} is "${cleanText(text, 40)}", which is not finite`,
  ]
}

/** The documented start does the step of the checkpoint again and so ends one too early; where the configuration insists on it, that is all there is. */
function offByOne({ planned, entry }: WindowUnderTest, replays: readonly Replay[]): string[] {
  if (planned.test.resumeAt === 'next_step' || !replays.some((replay) => isRedone(entry, replay))) return []
  const what = `the replay began with step ${entry.startStep}, which the checkpoint already has`
  return [planned.test.resumeAt === null ? what : `${what}: resume_at: next_step starts it one step later`]
}

function flagsOf(replays: readonly Replay[], facts: CheckpointFacts | undefined): string[] {
  return [
    ...(replays.some(({ attempts, replays }) => attempts > replays) ? ['retried'] : []),
    ...(replays.some(({ replays }) => replays > 1) ? ['replayed-twice'] : []),
    ...(facts && !facts.complete ? ['short-recording'] : []),
    ...(facts && facts.warnings.length > 0 ? ['warning'] : []),
  ]
}

function figuresOf(window: WindowUnderTest, replays: readonly Replay[]): string[] {
  const { entry, planned } = window
  const judged = chooseRules(window)
  const absent = Object.keys(planned.test.rules).filter((name) => !Object.hasOwn(judged, name))
  const steps = [...entry.results.keys()]
  const warnings = [...new Set(replays.flatMap(({ outcome }) => outcome.warnings))]
  const seeds = replays.flatMap(({ seed }) => (seed === null ? [] : [seed]))
  return [
    `steps ${steps[0]} to ${steps.at(-1)} from ${entry.checkpoint}${seeds.length > 0 ? `, seeds ${seeds.join(', ')}` : ''}`,
    ...(absent.length > 0 ? [`without ${absent.join(', ')}, which no step of this window logged`] : []),
    ...describeReplays(replays),
    ...warnings,
  ]
}

/** Seeds have them in common. */
export function describeReplays(replays: readonly Replay[]): string[] {
  return [...new Set(replays.flatMap(({ notes }) => notes))]
}

export function seedless({ test }: PlannedTest, seeds: readonly number[]): string[] {
  if (seeds.length === 0 || test.flags.run.seed) return []
  return [`--seeds has no effect: ${test.name} has no flags.run.seed, the flag for its seed`]
}

function measurementsOf(
  { entry, sidecar, planned }: WindowUnderTest,
  replays: readonly Replay[],
): Record<string, string | number> {
  return {
    'reference.manifest': basename(planned.storage.manifestPath),
    ...(sidecar && describeProvenance(sidecar, entry.startStep)),
    'target.command': (replays[0]?.argv ?? []).join(' '),
    ...(sidecar &&
      sidecar.configDigest !== planned.test.digest && { 'target.configuration': 'changed since gathering' }),
  }
}
