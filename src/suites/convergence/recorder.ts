import type { LogEvent, LoggedMetrics } from '../../domain/convergence.ts'

/** Which steps belong to a save. */
export interface RecordingPlan {
  readonly stepsToRecord: number
  readonly counts: 'steps' | 'entries'
  /** The last step that was done before the log begins; null: none. */
  readonly lastStep: number | null
  /** Saves say their step themselves, since steps come by another way; one that says none came before all steps. */
  readonly savesHaveSteps: boolean
}

/** What was recorded after one save. */
export interface SavedRecording {
  readonly checkpoint: string
  readonly startStep: number
  readonly results: ReadonlyMap<number, LoggedMetrics>
  /** The window was seen to its end. */
  readonly complete: boolean
  readonly warnings: readonly string[]
}

interface OpenRecording {
  readonly checkpoint: string
  readonly startStep: number
  /** The window's first step; null: the first that is logged. */
  first: number | null
  readonly results: Map<number, LoggedMetrics>
  complete: boolean
  readonly warnings: string[]
}

/** How many steps a stream may be behind a file. */
const LAG_STEPS = 1000

/** Follows a log: every save opens a window of its own, whether or not the one before has ended. */
export class Recorder {
  readonly #plan: RecordingPlan
  readonly #open = new Map<number, OpenRecording>()
  /** The last steps: a save that is told by another way than they are may come after those that follow it. */
  readonly #recent = new Map<number, LoggedMetrics>()
  #step: number | null

  constructor(plan: RecordingPlan) {
    this.#plan = plan
    this.#step = plan.lastStep
  }

  /** The windows that have anything, in the order of their saves. */
  get recordings(): SavedRecording[] {
    return [...this.#open.values()].filter(({ results }) => results.size > 0)
  }

  /** Saves after which no step was logged, such as the one at the end of training. */
  get empty(): string[] {
    return [...this.#open.values()].filter(({ results }) => results.size === 0).map(({ checkpoint }) => checkpoint)
  }

  /** True where a window has just ended, so that it is worth writing down. */
  take(event: LogEvent): boolean {
    if (event.kind === 'save') return this.#save(event.checkpoint, event.step)
    this.#step = event.step
    this.#remember(event.step, event.metrics)
    const ended = [...this.#open.values()].map((recording) => this.#record(recording, event.step, event.metrics))
    return ended.includes(true)
  }

  #save(checkpoint: string, step: number | undefined): boolean {
    const { savesHaveSteps, lastStep } = this.#plan
    const last = step ?? (savesHaveSteps ? lastStep : this.#step)
    const startStep = last ?? 0
    const before = this.#open.get(startStep)
    const warnings = before ? [`step ${startStep} was saved twice: ${before.checkpoint}, then ${checkpoint}`] : []
    const recording = {
      checkpoint,
      startStep,
      first: last === null ? null : last + 1,
      results: new Map(),
      complete: false,
      warnings,
    }
    this.#open.set(startStep, recording)
    if (!savesHaveSteps) return false
    const missed = [...this.#recent].filter(([number]) => last === null || number > last)
    return missed.map(([number, metrics]) => this.#record(recording, number, metrics)).includes(true)
  }

  #remember(step: number, metrics: LoggedMetrics): void {
    this.#recent.set(step, { ...this.#recent.get(step), ...metrics })
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > 2 * this.#plan.stepsToRecord + LAG_STEPS) this.#recent.delete(oldest!)
  }

  #record(recording: OpenRecording, step: number, metrics: LoggedMetrics): boolean {
    if (recording.complete && !recording.results.has(step)) return false
    recording.first ??= step
    if (step < recording.first) return false
    if (this.#isBeyond(recording, step)) return end(recording)
    // A step may be logged in parts, and again: the last word counts. One without metrics is only progress.
    const isProgress = Object.keys(metrics).length === 0
    if (!isProgress) recording.results.set(step, { ...recording.results.get(step), ...metrics })
    return this.#isLast(recording, step) ? end(recording) : false
  }

  #isBeyond({ first, results }: OpenRecording, step: number): boolean {
    const { stepsToRecord, counts } = this.#plan
    if (counts === 'entries') return results.size >= stepsToRecord && !results.has(step)
    return step >= first! + stepsToRecord
  }

  #isLast({ first }: OpenRecording, step: number): boolean {
    return this.#plan.counts === 'steps' && step === first! + this.#plan.stepsToRecord - 1
  }
}

/** True the first time. */
function end(recording: OpenRecording): boolean {
  const isNew = !recording.complete
  recording.complete = true
  return isNew
}
