import type { LogEvent } from '../../../domain/convergence.ts'
import { StageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { storedCheckpoint } from '../config/checkpoint-path.ts'
import type { CheckpointFacts, Manifest, ManifestEntry, Sidecar } from '../config/contract.ts'
import { joinWords } from '../curves/step-list.ts'
import type { PlannedTest } from '../planned-test.ts'
import { CheckpointSums } from '../storage/checkpoint-sums.ts'
import type { GatherPoint } from './gather-point.ts'
import { Recorder, type SavedRecording } from './recorder.ts'
import { refuseOverwritten } from './refuse-useless.ts'

/** Facts stored beside the recordings. */
export type Provenance = Pick<Sidecar, 'environment' | 'git'>

/** State of the program when its recordings are written. */
type Moment = 'running' | 'failed' | 'done'

/** A checkpoint as it is written down. */
interface Save extends Pick<CheckpointFacts, 'bytes' | 'sha256'> {
  readonly written: string
}

/** Recordings as they come, written down one after the other. */
export class RecordingWriter {
  readonly #planned: PlannedTest
  readonly #recorder: Recorder
  readonly #kept: Manifest
  readonly #reopens: GatherPoint['reopens'] | null
  readonly #facts: Map<number, CheckpointFacts>
  readonly #sums = new CheckpointSums()
  /** Of windows that have ended. */
  readonly #saves = new Map<SavedRecording, Save>()
  readonly #header: Omit<Sidecar, 'checkpoints'>
  #written: Promise<void> = Promise.resolve()
  #isWritten = false
  #stepless = 0

  constructor(planned: PlannedTest, from: GatherPoint | null, provenance: Provenance, argv: readonly string[]) {
    const { test } = planned
    this.#planned = planned
    this.#recorder = new Recorder({
      stepsToRecord: test.stepsToRecord,
      counts: test.recordingCounts,
      lastStep: from?.lastStep ?? null,
      savesHaveSteps: savesHaveSteps(planned),
      comesInParts: 'path' in test.parsing.source,
    })
    this.#kept = from?.entries ?? []
    this.#reopens = from?.reopens ?? null
    this.#facts = new Map(this.#kept.flatMap(({ startStep }) => factsAt(from, startStep)))
    const gatheredAt = new Date().toISOString()
    // Marked complete later, after all of it was checked.
    const identity = { test: test.name, complete: false, configDigest: test.digest, argv }
    const { earlier = [], renewals = [], resumeAt = null } = from ?? {}
    this.#header = { ...identity, ...provenance, gatheredAt, earlier, renewals, resumeAt }
    if (from) this.#recorder.take({ kind: 'save', checkpoint: from.reopens.checkpoint })
  }

  get empty(): readonly string[] {
    return this.#recorder.empty
  }

  /** `step 31, 3 windows`, and what a wrong pattern misses long before the training ends: `no accuracy yet` */
  get progress(): string {
    const { step, recordings } = this.#recorder
    const windows = recordings.length === 1 ? '1 window' : `${recordings.length} windows`
    const lacking = this.#recorder.lacking(Object.keys(this.#planned.test.rules)).map((name) => cleanText(name, 60))
    const parts = [...(step === null ? [] : [`step ${step}`]), windows]
    return [...parts, ...(lacking.length === 0 ? [] : [`no ${joinWords(lacking)} yet`])].join(', ')
  }

  get isWritten(): boolean {
    return this.#isWritten
  }

  take(event: LogEvent): void {
    if (event.kind === 'save' && event.step === undefined) this.#refuseUnknownStep(event.checkpoint)
    if (this.#recorder.take(event)) this.#write()
    // Long before the training ends, which may take days.
    if (event.kind === 'save') refuseOverwritten(this.#recorder.savesOf(event.checkpoint))
  }

  /** A file of metrics lags behind the stream, so what it has last says nothing about a save; before all steps is one. */
  #refuseUnknownStep(checkpoint: string): void {
    if (!savesHaveSteps(this.#planned)) return
    this.#stepless++
    if (this.#stepless === 1) return
    const text = `no line of the stream gave a step number before ${cleanText(checkpoint, 300)} was saved`
    throw new StageError('run', `${text}, so its step is not known; see log_parsing.step_num.regex`)
  }

  /** What a program saved that went well must be there now. */
  async close(isWell: boolean): Promise<void> {
    this.#write(isWell ? 'done' : 'failed')
    await this.#written
  }

  #write(moment: Moment = 'running'): void {
    const { recordings } = this.#recorder
    this.#written = this.#written.then(() => this.#store(recordings, moment))
    // Who closes the writer hears of it.
    this.#written.catch(() => {})
  }

  async #store(recordings: readonly SavedRecording[], moment: Moment): Promise<void> {
    if (!this.#isWorthIt(recordings)) return
    const entries = new Map(this.#kept.map((entry) => [entry.startStep, entry]))
    for (const recording of recordings) {
      const entry = await this.#entry(recording, moment)
      if (entry) entries.set(recording.startStep, entry)
    }
    if (entries.size === 0) return
    const manifest = [...entries.values()].sort((a, b) => a.startStep - b.startStep)
    const checkpoints = Object.fromEntries(manifest.map(({ startStep }) => [startStep, this.#facts.get(startStep)!]))
    await this.#planned.storage.write(manifest, { ...this.#header, checkpoints })
    this.#isWritten = true
  }

  /** A window that is recorded again is replaced only when it has a logged step. */
  #isWorthIt(recordings: readonly SavedRecording[]): boolean {
    if (this.#reopens === null) return recordings.length > 0
    const { startStep } = this.#reopens
    return recordings.some((recording) => recording.startStep === startStep)
  }

  /** Null if its checkpoint does not exist yet: some are finished only after the line that announces them. */
  async #entry(recording: SavedRecording, moment: Moment): Promise<ManifestEntry | null> {
    const { startStep, results, complete, warnings } = recording
    const saving = this.#save(recording, moment)
    const save = await (moment === 'done' ? saving : saving.catch(() => null))
    if (save === null) return null
    const { written, bytes, sha256 } = save
    this.#facts.set(startStep, { complete, bytes, sha256, warnings, samples: [] })
    return { checkpoint: written, startStep, results: new Map(results) }
  }

  /** Looked at until its window has ended, and once more when the program has. */
  async #save(recording: SavedRecording, moment: Moment): Promise<Save> {
    const known = this.#saves.get(recording)
    if (known && moment === 'running') return known
    const { checkpoint, complete } = recording
    const { storage, cwd } = this.#planned
    const { path, written } = await storedCheckpoint(storage.manifestPath, checkpoint, cwd)
    const save = { written, ...(await (moment === 'running' ? this.#sums.of(path) : this.#sums.finalOf(path))) }
    if (complete) this.#saves.set(recording, save)
    return save
  }
}

/** Metrics come from a file and saves from lines of the stream. */
function savesHaveSteps({ test }: PlannedTest): boolean {
  return test.parsing.lineStepNum !== undefined && test.parsing.modelSave.kind === 'pattern'
}

function factsAt(from: GatherPoint | null, startStep: number): [number, CheckpointFacts][] {
  const facts = from?.facts[startStep]
  return facts ? [[startStep, facts]] : []
}
