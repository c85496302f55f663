import type { LogEvent, LoggedMetrics } from '../../../domain/convergence.ts'

/** Which steps belong to a save. */
export interface RecordingPlan {
  readonly stepsToRecord: number
  readonly counts: 'steps' | 'entries'
  /** The last step that was done before the log begins; null: none. */
  readonly lastStep: number | null
  /** Saves name their own step, because steps come from another source; a save without one came before all steps. */
  readonly savesHaveSteps: boolean
  /** Values of a step may come after later steps, as in files that list one metric after the other. */
  readonly comesInParts: boolean
}

/** What was recorded after one save. */
export interface SavedRecording {
  readonly checkpoint: string
  readonly startStep: number
  readonly results: ReadonlyMap<number, LoggedMetrics>
  /** The log reached the end of the window. */
  readonly complete: boolean
  readonly warnings: readonly string[]
}

interface OpenRecording {
  readonly checkpoint: string
  readonly startStep: number
  /** The window's first step; null: the first that is logged. */
  first: number | null
  /** The last step that was logged in it. */
  last: number | null
  readonly results: Map<number, LoggedMetrics>
  complete: boolean
  /** Later log lines no longer belong to this window, whatever their step numbers. */
  isClosed: boolean
  readonly warnings: string[]
}

/** How many steps a stream may be behind a file. */
const LAG_STEPS = 1000

/** Follows a log: every save opens a window of its own, whether or not the one before has ended. */
export class Recorder {
  readonly #plan: RecordingPlan
  readonly #open = new Map<number, OpenRecording>()
  /** The last steps: a save from another source may arrive after the steps that follow it. */
  readonly #recent = new Map<number, LoggedMetrics>()
  readonly #logged = new Set<string>()
  #step: number | null

  constructor(plan: RecordingPlan) {
    this.#plan = plan
    this.#step = plan.lastStep
  }

  /** The last step that was logged. */
  get step(): number | null {
    return this.#step
  }

  /** Metrics that no step had, although a window has ended. */
  lacking(metrics: readonly string[]): string[] {
    const hasEnded = this.recordings.some(({ complete }) => complete)
    return hasEnded ? metrics.filter((name) => !this.#logged.has(name)) : []
  }

  savesOf(path: string): readonly Pick<SavedRecording, 'checkpoint' | 'startStep'>[] {
    return [...this.#open.values()].filter(({ checkpoint }) => checkpoint === path)
  }

  /** The windows that have anything, in the order of their saves. */
  get recordings(): SavedRecording[] {
    return [...this.#open.values()].filter(({ results }) => results.size > 0)
  }

  /** Saves after which no step was logged, such as the one at the end of training. */
  get empty(): string[] {
    return [...this.#open.values()].filter(({ results }) => results.size === 0).map(({ checkpoint }) => checkpoint)
  }

  /** True if a window has just ended and should be saved. */
  take(event: LogEvent): boolean {
    if (event.kind === 'save') return this.#save(event.checkpoint, event.step)
    this.#step = event.step
    for (const name of Object.keys(event.metrics)) this.#logged.add(name)
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
      last: null,
      results: new Map(),
      complete: false,
      isClosed: false,
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
    recording.first ??= step
    if (recording.complete && this.#plan.comesInParts) return addLacking(recording, step, metrics)
    if (recording.isClosed) return false
    if (this.#isBeyond(recording, step)) return close(recording)
    if (this.#beginsAgain(recording, step)) return cut(recording, step)
    if (step < recording.first) return false
    this.#note(recording, step, metrics)
    return this.#isLast(recording, step) ? end(recording) : false
  }

  /** A step may be logged in parts or twice; the last value counts. A step without metrics is only progress. */
  #note(recording: OpenRecording, step: number, metrics: LoggedMetrics): void {
    const known = recording.results.get(step) ?? {}
    const isAgain = Object.keys(metrics).some((name) => Object.hasOwn(known, name))
    if (isAgain && !this.#plan.comesInParts && step < recording.last!)
      warn(recording, `step numbers went back after step ${recording.last}: the last logged values were recorded`)
    if (Object.keys(metrics).length > 0) recording.results.set(step, { ...known, ...metrics })
    recording.last = step
  }

  /** Before the save itself, as where every epoch counts from 0; a program that goes on may log the step of its save again. */
  #beginsAgain({ startStep, results }: OpenRecording, step: number): boolean {
    return !this.#plan.comesInParts && results.size > 0 && step < startStep
  }

  /** Also where numbers begin again once a window has all its steps. */
  #isBeyond({ first, last, results, complete }: OpenRecording, step: number): boolean {
    const { stepsToRecord, counts, comesInParts } = this.#plan
    const hasAll = complete || (counts === 'entries' && results.size >= stepsToRecord)
    if (hasAll && !comesInParts) return step !== last
    return counts === 'entries' ? hasAll && !results.has(step) : step >= first! + stepsToRecord
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

function close(recording: OpenRecording): boolean {
  recording.isClosed = true
  return end(recording)
}

/** Closes a short window: later lines with its step numbers belong to another pass. */
function cut(recording: OpenRecording, step: number): boolean {
  recording.isClosed = true
  warn(recording, `step numbers begin again at ${step} after step ${recording.last}, so the window ends there`)
  return true
}

function warn({ warnings }: OpenRecording, warning: string): void {
  if (!warnings.includes(warning)) warnings.push(warning)
}

/** After the end, only missing values of a step are added; known values stay. */
function addLacking({ results }: OpenRecording, step: number, metrics: LoggedMetrics): boolean {
  const known = results.get(step)
  if (!known) return false
  const rest = Object.entries(metrics).map(([name, values]) => [name, { ...values, ...known[name] }])
  results.set(step, { ...known, ...Object.fromEntries(rest) })
  return false
}
