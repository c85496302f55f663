import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { WindowJudgement } from '../../compare/convergence/contract.ts'
import { judgeWindow } from '../../compare/convergence/judge-window.ts'
import { worstMetrics } from '../../compare/metrics.ts'
import type { Recording } from '../../domain/convergence.ts'
import { StageError } from '../../domain/errors.ts'
import { toJson } from '../../domain/json.ts'
import type { CaseError } from '../../domain/result.ts'
import { cleanText } from '../../domain/text.ts'
import { locateCheckpoint } from '../../files/convergence/checkpoint-path.ts'
import { checkpointSum } from '../../files/convergence/checkpoint-sum.ts'
import type { CheckpointFacts, Manifest, ManifestEntry, Sidecar } from '../../files/convergence/contract.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import { curveOf, outputOf, reasonOf } from './describe-window.ts'
import type { ConvergenceOptions, PlannedTest } from './planned-test.ts'
import { isHealthy, programError } from './program-error.ts'
import { provenanceOf } from './provenance.ts'
import { type Replay, replay } from './replay.ts'

/** One recording of a manifest, to be done again. */
export interface WindowUnderTest {
  readonly planned: PlannedTest
  readonly entry: ManifestEntry
  readonly sidecar: Sidecar | null
  /** How many windows of this test are judged. */
  readonly windows: number
  /** Metrics that some window of the manifest has. */
  readonly recorded: ReadonlySet<string>
}

/** Replays a window from its checkpoint and compares all that was recorded. */
export async function judgeReplay(
  id: string,
  window: WindowUnderTest,
  lab: Lab,
  options: Pick<ConvergenceOptions, 'seeds' | 'reproduce'>,
): Promise<Judgement> {
  const facts = factsOf(window)
  const replays = await replayAll(window, lab, options.seeds)
  const judged = judgeReplays(window, replays)
  await keepCurves(lab, judged, replays.length)
  const failed = replays.find(({ outcome }) => !isHealthy(outcome))
  const error = failed ? programError(failed) : nothingLogged(judged, replays)
  // Of a program that logged nothing there is nothing to show beside its error.
  const shown = judged.coverage.compared > 0 ? judged.series : []
  const isBroken = replays.some(({ brokeAt }) => brokeAt !== null)
  const outputs = shown.map(outputOf)
  return {
    verdict: error ? 'error' : isBroken && judged.verdict === 'pass' ? 'fail' : judged.verdict,
    ...reasonFor(window, judged, replays, error),
    ...(error && { error }),
    flags: flagsOf(replays, facts),
    coverage: judged.coverage,
    metrics: worstMetrics(outputs),
    outputs,
    worst: [],
    curves: shown.map((series) => curveOf(series, replays.length)),
    figures: [...figuresOf(window, replays), ...seedless(window.planned, options.seeds), ...(facts?.warnings ?? [])],
    measurements: measurementsOf(window, replays),
    reproduce: options.reproduce(id),
  }
}

/** Each seed once; the checkpoint must be the one that was gathered. */
export async function replayAll(window: WindowUnderTest, lab: Lab, seeds: readonly number[]): Promise<Replay[]> {
  const { planned, entry } = window
  const checkpointInput = await locateCheckpoint(planned.storage.manifestPath, entry.checkpoint)
  await checkCheckpoint(checkpointInput, window, lab)
  const replays: Replay[] = []
  for (const seed of usableSeeds(planned, seeds)) {
    replays.push(await replay({ planned, entry, checkpointInput, seed }, lab))
    if (!isHealthy(replays.at(-1)!.outcome)) break
  }
  return replays
}

/** A program that takes no seed is replayed once. */
export function usableSeeds({ test }: PlannedTest, seeds: readonly number[]): readonly (number | null)[] {
  return seeds.length > 0 && test.flags.run.seed ? seeds : [null]
}

async function checkCheckpoint(path: string, window: WindowUnderTest, lab: Lab): Promise<void> {
  const facts = factsOf(window)
  if (!window.sidecar) return
  if (!facts) throw strangeWindow(window)
  await lab.step({ title: 'check the checkpoint', stage: 'inputs', key: null }, async () => {
    const { bytes, sha256 } = await checkpointSum(path)
    if (sha256 === facts.sha256) return
    const size = bytes === facts.bytes ? 'as large as it was' : `${bytes} bytes instead of ${facts.bytes}`
    const text = `${window.entry.checkpoint} is not the checkpoint that was gathered (${size})`
    throw new StageError('inputs', `${text}; put it back, or gather again`, { side: 'reference' })
  })
}

function strangeWindow({ planned, entry }: WindowUnderTest): StageError {
  const name = basename(planned.storage.sidecarPath)
  const text = `${name} does not know ckpt_${entry.startStep}, so it is of another gathering`
  return new StageError('inputs', `${text}; put back the one that belongs to the manifest, or remove it`, {
    side: 'reference',
  })
}

function factsOf({ entry, sidecar }: WindowUnderTest): CheckpointFacts | undefined {
  return sidecar?.checkpoints[entry.startStep]
}

/** A replay that broke off at a value that is not finite is judged up to there: that it has no more steps is no news. */
function judgeReplays(window: WindowUnderTest, replays: readonly Replay[]): WindowJudgement {
  const { entry, windows } = window
  const broken = replays.flatMap(({ brokeAt }) => brokeAt?.step ?? [])
  const last = Math.min(Number.POSITIVE_INFINITY, ...broken)
  const upTo = (recording: Recording) => new Map([...recording].filter(([step]) => step <= last))
  const samples = factsOf(window)?.samples ?? []
  const rules = rulesOf(window)
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

/** Names of all metrics that some step of some window has. */
export function metricsOf(manifest: Manifest): Set<string> {
  const steps = manifest.flatMap(({ results }) => [...results.values()])
  return new Set(steps.flatMap((logged) => Object.keys(logged)))
}

/** A metric that is logged now and then is judged in the windows that have it; one that none has was not gathered. */
function rulesOf({ planned, entry, recorded }: WindowUnderTest): PlannedTest['test']['rules'] {
  const here = metricsOf([entry])
  const rules = Object.entries(planned.test.rules).filter(([name]) => here.has(name) || !recorded.has(name))
  return rules.length === 0 ? planned.test.rules : Object.fromEntries(rules)
}

function nothingLogged({ coverage }: WindowJudgement, replays: readonly Replay[]): CaseError | null {
  if (coverage.expected === 0 || replays.some(({ recording }) => recording.size > 0)) return null
  const message = `the program ended without logging any of the ${coverage.expected} recorded steps`
  return { stage: 'run', side: 'target', message }
}

function reasonFor(
  { planned, entry }: WindowUnderTest,
  judged: WindowJudgement,
  replays: readonly Replay[],
  error: CaseError | null,
) {
  const isDocumentedStart = planned.test.resumeAt === 'last_step' && judged.verdict !== 'pass'
  const hints = isDocumentedStart ? offByOne(entry, replays) : []
  const reason = [error ? undefined : reasonOf(judged), ...replays.flatMap(breakText), ...hints]
    .filter(Boolean)
    .join('; ')
  return reason === '' ? {} : { reason }
}

function breakText({ brokeAt, seed }: Replay): string[] {
  if (brokeAt === null) return []
  const { step, metric, text } = brokeAt
  const who = seed === null ? '' : `seed ${seed} `
  return [`${who}ended at step ${step}, where ${cleanText(metric, 60)} is "${cleanText(text, 40)}" and not finite`]
}

/** The documented start does the step of the checkpoint again and so ends one too early. */
function offByOne({ startStep, results }: ManifestEntry, replays: readonly Replay[]): string[] {
  const isRedone = !results.has(startStep) && replays.some(({ early }) => early.includes(startStep))
  if (!isRedone) return []
  return [
    `the replay began with step ${startStep}, which the checkpoint already has: resume_at: next_step starts it one step later`,
  ]
}

function flagsOf(replays: readonly Replay[], facts: CheckpointFacts | undefined): string[] {
  return [
    ...(replays.some(({ attempts }) => attempts > 1) ? ['retried'] : []),
    ...(facts && !facts.complete ? ['short-recording'] : []),
    ...(facts && facts.warnings.length > 0 ? ['warning'] : []),
  ]
}

function figuresOf(window: WindowUnderTest, replays: readonly Replay[]): string[] {
  const { entry, planned } = window
  const judged = rulesOf(window)
  const absent = Object.keys(planned.test.rules).filter((name) => !Object.hasOwn(judged, name))
  const steps = [...entry.results.keys()]
  const warnings = [...new Set(replays.flatMap(({ outcome }) => outcome.warnings))]
  const seeds = replays.flatMap(({ seed }) => (seed === null ? [] : [seed]))
  return [
    `steps ${steps[0]} to ${steps.at(-1)} from ${entry.checkpoint}${seeds.length > 0 ? `, seeds ${seeds.join(', ')}` : ''}`,
    ...(absent.length > 0 ? [`without ${absent.join(', ')}, which no step of this window logged`] : []),
    ...warnings,
  ]
}

export function seedless({ test }: PlannedTest, seeds: readonly number[]): string[] {
  if (seeds.length === 0 || test.flags.run.seed) return []
  return [`without --seeds: ${test.name} has no flags.run.seed, the key of its seed`]
}

function measurementsOf(
  { entry, sidecar, planned }: WindowUnderTest,
  replays: readonly Replay[],
): Record<string, string | number> {
  return {
    'reference.manifest': basename(planned.storage.manifestPath),
    ...(sidecar && provenanceOf(sidecar, entry.startStep)),
    'target.command': (replays[0]?.argv ?? []).join(' '),
    ...(sidecar &&
      sidecar.configDigest !== planned.test.digest && { 'target.configuration': 'changed since gathering' }),
  }
}

async function keepCurves(lab: Lab, { series }: WindowJudgement, replays: number): Promise<void> {
  const { folder } = await lab.step({ title: 'write the curves', stage: 'compare', key: null }, async (folder) => {
    const points = series.map(({ name, rule, verdict, points, noise }) => ({ name, rule, verdict, points, noise }))
    await writeFile(join(folder, 'curves.json'), toJson({ schema: 'assay/curves@1', replays, series: points }))
  })
  await lab.keep('curves.json', join(folder, 'curves.json'))
}
