import type { LogEvent, LoggedMetrics, Recording } from '../../domain/convergence.ts'
import { StageError } from '../../domain/errors.ts'
import type { ConvergenceTest, ManifestEntry, ResumeAt } from './config/contract.ts'
import { parseNumber } from './curves/parse-number.ts'

type Reach = Pick<ConvergenceTest, 'runFor' | 'stepsPerUnit' | 'stepsToRecord' | 'recordingCounts'>

/** The arguments that make the program do the steps of a recording, in its own units. */
export function replayReach(
  test: Reach,
  entry: ManifestEntry,
  resumeAt: ResumeAt,
): { readonly startStep: number; readonly runFor: number } {
  const { startStep, results } = entry
  // A save before any step is followed by the step of its own number.
  const beginsThere = results.has(startStep)
  const start = resumeAt === 'next_step' && !beginsThere ? startStep + 1 : startStep
  const steps = windowSteps(test, entry, beginsThere)
  const { stepsPerUnit } = test
  if (start % stepsPerUnit !== 0) {
    const text = `step ${start} is not a multiple of steps_per_unit ${stepsPerUnit}`
    throw new StageError('inputs', `${text}, so the program cannot be told to start there`)
  }
  const end = test.runFor === 'count' ? steps : start + steps
  return { startStep: start / stepsPerUnit, runFor: Math.ceil(end / stepsPerUnit) }
}

/** All that was recorded, even where the configuration asks for less by now. */
function windowSteps(test: Reach, { startStep, results }: ManifestEntry, beginsThere: boolean): number {
  const recorded = lastStep(results) - (beginsThere ? startStep : startStep + 1) + 1
  return test.recordingCounts === 'steps' ? Math.max(test.stepsToRecord, recorded) : recorded
}

function lastStep(recording: Recording): number {
  let last = Number.NEGATIVE_INFINITY
  for (const step of recording.keys()) last = Math.max(last, step)
  return last
}

/** The replay repeated the step that its checkpoint already has, so all later steps are off by one. */
export function isRedone({ startStep, results }: ManifestEntry, { early }: { readonly early: readonly number[] }) {
  return !results.has(startStep) && early[0] === startStep
}

/** What ends a replay: a metric that is not a finite number. */
export interface Break {
  readonly step: number
  readonly metric: string
  readonly text: string
}

/** Collects the steps of a window from a log. */
export class ReplayReader {
  readonly #wanted: Recording
  readonly #metrics: readonly string[]
  readonly #found = new Map<number, LoggedMetrics>()
  readonly #last: number
  /** Steps that were logged with metrics before the window. */
  readonly early: number[] = []
  brokeAt: Break | null = null

  /** `beyond`: so many steps after the window its own may still come, as in files with a value after the other. */
  constructor(wanted: Recording, metrics: readonly string[], beyond: number) {
    this.#wanted = wanted
    this.#metrics = metrics
    this.#last = lastStep(wanted) + beyond
  }

  get recording(): Recording {
    return new Map([...this.#found].sort(([a], [b]) => a - b))
  }

  /** `2 of 5 steps` */
  get progress(): string {
    return `${this.#found.size} of ${this.#wanted.size} steps`
  }

  /** False where no more is wanted. */
  take(event: LogEvent): boolean {
    if (event.kind === 'save') return true
    const { step, metrics } = event
    if (step > this.#last) return false
    if (!this.#wanted.has(step)) {
      if (this.#found.size === 0 && this.#metrics.some((name) => Object.hasOwn(metrics, name))) this.early.push(step)
      return true
    }
    const all = { ...this.#found.get(step), ...metrics }
    this.#found.set(step, all)
    this.brokeAt = breakIn(step, all, this.#metrics)
    return this.brokeAt === null
  }
}

function breakIn(step: number, logged: LoggedMetrics, metrics: readonly string[]): Break | null {
  for (const metric of metrics) {
    const text = Object.values(logged[metric] ?? {}).find((value) => !Number.isFinite(parseNumber(value)))
    if (text !== undefined) return { step, metric, text }
  }
  return null
}
