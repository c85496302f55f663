import type { CaseError } from '../../../domain/result.ts'
import type { Case, Judgement, Lab, Suite } from '../../../runs/contract.ts'
import type { CheckpointFacts, ConvergenceTest, Manifest, ManifestEntry } from '../config/contract.ts'
import { seedless } from '../judge-replays.ts'
import { NOTHING_COMPARED } from '../nothing-compared.ts'
import type { ConvergenceOptions, PlannedTest } from '../planned-test.ts'
import { programError } from '../program-error.ts'
import { settledPoint } from '../settled-point.ts'
import { makeCase } from '../suite.ts'
import { type Gathered, gather } from './gather.ts'
import { type GatherPoint, lacksOnlySeeds } from './gather-point.ts'
import { gatherSamples } from './gather-samples.ts'
import { refuseUseless } from './refuse-useless.ts'

export interface GatherOptions extends ConvergenceOptions {
  /** Writes over what is there. */
  readonly startOver: boolean
}

/** Runs known-good training once and records from every save on. */
export function gatherSuite(options: GatherOptions): Suite<GatherCase> {
  const { tests, isAlone } = options
  return {
    name: 'convergence',
    async *collect() {
      for (const planned of tests) yield { ...makeCase(planned, 'gather', isAlone), planned }
    },
    judge: ({ planned }, lab) => judgeGathering(planned, lab, options),
  }
}

interface GatherCase extends Case {
  readonly planned: PlannedTest
}

async function judgeGathering(planned: PlannedTest, lab: Lab, options: GatherOptions): Promise<Judgement> {
  const { startOver, environment, seeds } = options
  if (!startOver && (await lacksOnlySeeds(planned, seeds))) {
    await gatherSamples(planned, seeds, lab)
    return captured(planned, options, null)
  }
  const from = await settledPoint(planned, startOver, lab)
  const git = await options.git(planned.cwd)
  const gathered = await gather(planned, from, { environment, git }, lab)
  const failure = failureOf(planned, gathered, from)
  if (!failure) {
    await complete(planned)
    await gatherSamples(planned, seeds, lab)
  }
  const judgement = await captured(planned, options, gathered)
  return {
    ...judgement,
    ...(failure && { verdict: 'error', error: failure }),
    flags: from ? ['resumed'] : [],
  }
}

/** Marks a gathering as complete only if it can be replayed. */
async function complete(planned: PlannedTest): Promise<void> {
  refuseUseless(planned, await planned.storage.manifest())
  await planned.storage.change((kept, sidecar) => [kept, sidecar && { ...sidecar, complete: true }])
}

async function captured(planned: PlannedTest, { seeds }: GatherOptions, gathered: Gathered | null): Promise<Judgement> {
  return {
    verdict: 'captured',
    ...NOTHING_COMPARED,
    figures: [...(await figuresOf(planned, gathered)), ...seedless(planned, seeds)],
    measurements: gathered ? { 'reference.command': gathered.argv.join(' ') } : {},
  }
}

function failureOf(planned: PlannedTest, gathered: Gathered, from: GatherPoint | null): CaseError | null {
  const { ending, exitCode } = gathered.outcome
  const isWell = ending === 'exited' && exitCode === 0
  if (isWell && gathered.isWritten) return null
  const error = programError(gathered, 'reference')
  const why = isWell ? whyNothing(planned, gathered, from) : error.message
  return { ...error, message: [why, ...untouched(planned, gathered)].join('; ') }
}

function whyNothing({ test, storage }: PlannedTest, { empty, outcome }: Gathered, from: GatherPoint | null): string {
  const saves = empty.length
  const why = from
    ? `the program continued from ${storage.shown(from.reopens.checkpoint)} and logged no step of the window after it`
    : saves > 0
      ? `no step was logged after ${saves === 1 ? 'the save' : `any of ${saves} saves`}`
      : 'no line says that a checkpoint was saved'
  return `${why} ${linesText(test.logOutput, outcome)}; see log_parsing of ${test.name} and log_output`
}

/** `in 0 lines on stderr (stdout, which is not read, has 12 lines)`: the likeliest reason why nothing was found. */
function linesText(read: ConvergenceTest['logOutput'], { lines, otherLines }: Gathered['outcome']): string {
  const counted = (count: number) => `${count} ${count === 1 ? 'line' : 'lines'}`
  if (read === 'both') return `in ${counted(lines)}`
  const other = read === 'stdout' ? 'stderr' : 'stdout'
  return `in ${counted(lines)} on ${read}${otherLines > 0 ? ` (${other}, which is not read, has ${counted(otherLines)})` : ''}`
}

function untouched({ storage }: PlannedTest, { isWritten }: Gathered): string[] {
  return storage.exists && !isWritten ? [`${storage.shownManifest} stays as it was`] : []
}

/** A gathering that wrote nothing does not list older windows. */
async function figuresOf({ storage, test }: PlannedTest, gathered: Gathered | null): Promise<string[]> {
  const isWritten = gathered?.isWritten ?? true
  const manifest = isWritten ? await storage.manifest() : []
  const facts = (isWritten && (await storage.sidecar())?.checkpoints) || {}
  const empty = gathered?.empty ?? []
  return [
    ...manifest.map((entry) => windowText(entry, facts[entry.startStep])),
    ...sparseMetrics(Object.keys(test.rules), manifest),
    ...Object.values(facts).flatMap(({ warnings }) => warnings),
    ...(gathered?.outcome.warnings ?? []),
    ...(empty.length > 0 ? [`nothing was logged after ${empty.map((path) => storage.shown(path)).join(', ')}`] : []),
    ...(isWritten ? [`wrote ${storage.shownManifest}`] : []),
  ]
}

function windowText({ startStep, checkpoint, results }: ManifestEntry, facts: CheckpointFacts | undefined): string {
  const steps = [...results.keys()]
  const about = [
    steps.length === 1 ? `step ${steps[0]}` : `steps ${steps[0]} to ${steps.at(-1)}`,
    facts &&
      facts.samples.length > 0 &&
      `${facts.samples.length} more ${facts.samples.length === 1 ? 'seed' : 'seeds'}`,
    facts && !facts.complete && 'short: training ended before the window did',
    checkpoint,
  ]
  return `ckpt_${startStep}: ${about.filter(Boolean).join(', ')}`
}

/** Metrics that are not on every step: meant to be so, or a pattern that does not match all of them. */
function sparseMetrics(metrics: readonly string[], manifest: Manifest): string[] {
  const steps = manifest.flatMap(({ results }) => [...results.values()])
  return metrics.flatMap((name) => {
    const count = steps.filter((logged) => Object.hasOwn(logged, name)).length
    return count === 0 || count === steps.length ? [] : [`${name} is on ${count} of the ${steps.length} recorded steps`]
  })
}
