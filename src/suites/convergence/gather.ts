import { join } from 'node:path'
import type { LogEvent } from '../../domain/convergence.ts'
import { StageError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'
import { storedCheckpoint } from '../../files/convergence/checkpoint-path.ts'
import { checkpointSum } from '../../files/convergence/checkpoint-sum.ts'
import type { CheckpointFacts, Manifest, ManifestEntry, Sidecar } from '../../files/convergence/contract.ts'
import { gatherArgv, resumeArgv } from '../../files/convergence/program-argv.ts'
import type { Lab } from '../../runs/contract.ts'
import type { ProgramOutcome } from '../../runtimes/program/contract.ts'
import { runProgram } from '../../runtimes/program/run-program.ts'
import type { GatherPoint } from './gather-point.ts'
import { metricsOf } from './judge-replay.ts'
import type { PlannedTest } from './planned-test.ts'
import { Recorder, type SavedRecording } from './recorder.ts'
import { programOf } from './replay.ts'

/** What is written down beside the recordings themselves. */
export type Provenance = Pick<Sidecar, 'environment' | 'git'>

export interface Gathered {
  readonly argv: readonly string[]
  readonly outcome: ProgramOutcome
  /** Saves after which nothing was logged. */
  readonly empty: readonly string[]
}

/** Runs the program to its end and writes a recording down whenever one is complete. */
export async function gather(
  planned: PlannedTest,
  from: GatherPoint | null,
  provenance: Provenance,
  lab: Lab,
): Promise<Gathered> {
  const { test, storage } = planned
  const checkpointOutput = storage.checkpoints
  const argv = from ? resumeArgv(test, { ...from.reach, checkpointOutput }) : gatherArgv(test, { checkpointOutput })
  const { value, folder } = await lab.step(
    { title: `gather ${test.name}`, stage: 'run', key: null },
    async (folder) => {
      const ledger = new Ledger(planned, from, provenance, argv)
      const onEvents = (events: readonly LogEvent[]) => {
        for (const event of events) ledger.take(event)
        return true
      }
      const outcome = await runProgram({ ...programOf(planned, folder), argv, signal: lab.signal, onEvents })
      await ledger.close(outcome.ending === 'exited' && outcome.exitCode === 0)
      return { argv, outcome, empty: ledger.empty }
    },
  )
  await lab.keep('program.log', join(folder, 'program.log'))
  return value
}

/** Recordings as they come, written down one after the other. */
class Ledger {
  readonly #planned: PlannedTest
  readonly #recorder: Recorder
  readonly #kept: Manifest
  readonly #facts: Map<number, CheckpointFacts>
  /** By path: a large checkpoint is read once. */
  readonly #contents = new Map<string, ReturnType<typeof checkpointSum>>()
  readonly #header: Omit<Sidecar, 'complete' | 'checkpoints'>
  #written: Promise<void> = Promise.resolve()
  #stepless = 0

  constructor(planned: PlannedTest, from: GatherPoint | null, provenance: Provenance, argv: readonly string[]) {
    const { test } = planned
    this.#planned = planned
    this.#recorder = new Recorder({
      stepsToRecord: test.stepsToRecord,
      counts: test.recordingCounts,
      lastStep: from?.lastStep ?? null,
      savesHaveSteps: savesHaveSteps(planned),
    })
    this.#kept = from?.entries ?? []
    this.#facts = new Map(this.#kept.flatMap(({ startStep }) => factsAt(from, startStep)))
    const gatheredAt = new Date().toISOString()
    const identity = { test: test.name, configDigest: test.digest, argv, renewals: [] }
    this.#header = { ...identity, ...provenance, gatheredAt }
    if (from?.reopens) this.#recorder.take({ kind: 'save', checkpoint: from.reopens })
  }

  get empty(): readonly string[] {
    return this.#recorder.empty
  }

  take(event: LogEvent): void {
    if (event.kind === 'save' && event.step === undefined) this.#refuseUnknownStep(event.checkpoint)
    if (this.#recorder.take(event)) this.#write(false)
  }

  /** A file of metrics lags behind the stream, so what it has last says nothing about a save; before all steps is one. */
  #refuseUnknownStep(checkpoint: string): void {
    if (!savesHaveSteps(this.#planned)) return
    this.#stepless++
    if (this.#stepless === 1) return
    const text = `no line of the stream has a step number before it says that ${cleanText(checkpoint, 300)} was saved`
    throw new StageError('run', `${text}, so its step is not known; see log_parsing.step_num.regex`)
  }

  async close(isComplete: boolean): Promise<void> {
    this.#write(isComplete)
    await this.#written
  }

  #write(isComplete: boolean): void {
    const { recordings } = this.#recorder
    this.#written = this.#written.then(() => this.#store(recordings, isComplete))
    // Who closes the ledger hears of it.
    this.#written.catch(() => {})
  }

  async #store(recordings: readonly SavedRecording[], isComplete: boolean): Promise<void> {
    const { storage } = this.#planned
    const entries = new Map(this.#kept.map((entry) => [entry.startStep, entry]))
    for (const recording of recordings) entries.set(recording.startStep, await this.#entry(recording))
    const manifest = [...entries.values()].sort((a, b) => a.startStep - b.startStep)
    if (manifest.length === 0) return
    const checkpoints = Object.fromEntries(manifest.map(({ startStep }) => [startStep, this.#facts.get(startStep)!]))
    await storage.write(manifest, { ...this.#header, complete: isComplete, checkpoints })
  }

  async #entry({ checkpoint, startStep, results, complete, warnings }: SavedRecording): Promise<ManifestEntry> {
    const { storage, cwd } = this.#planned
    const stored = await storedCheckpoint(storage.manifestPath, checkpoint, cwd)
    const content = this.#contents.get(stored.path) ?? checkpointSum(stored.path)
    this.#contents.set(stored.path, content)
    const { bytes, sha256 } = await content
    this.#facts.set(startStep, { complete, bytes, sha256, warnings, samples: [] })
    return { checkpoint: stored.written, startStep, results: new Map(results) }
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

/** A program that saves over its last checkpoint leaves nothing to replay the earlier windows from. */
export function refuseOverwritten(manifest: Manifest): void {
  for (const { checkpoint, startStep } of manifest) {
    const later = manifest.find((entry) => entry.checkpoint === checkpoint && entry.startStep > startStep)
    if (!later) continue
    const text = `${checkpoint} was saved at step ${startStep} and again at step ${later.startStep}`
    throw new StageError('run', `${text}; every save needs a file of its own`)
  }
}

/** Metrics that no step of any recording has. */
export function refuseUnseen(planned: PlannedTest, manifest: Manifest): void {
  const seen = metricsOf(manifest)
  const missing = Object.keys(planned.test.rules).filter((metric) => !seen.has(metric))
  if (missing.length === 0) return
  const text = `no line with a step number has ${missing.map((name) => `the metric "${name}"`).join(' or ')}`
  throw new StageError('run', `${text}; see log_parsing in the configuration, and program.log for what was printed`)
}
