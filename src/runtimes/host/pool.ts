import { join } from 'node:path'
import type { Clock } from '../../domain/clock.ts'
import { UsageError } from '../../domain/errors.ts'
import { remember } from '../../domain/remember.ts'
import type { Target, TargetSchema } from '../../domain/target.ts'
import type { TensorSink, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import type { IrOptions, LaunchContext, Limits, ModelRef, Probe, RuntimeSchema, WeightFacts } from '../contract.ts'
import { RefusedRequest, WorkerFailure } from '../failure.ts'
import { fingerprintTarget } from '../fingerprint.ts'
import { findSchema } from '../registry.ts'
import { type AttemptProgress, type Done, type Task, workWithBlame } from './attempts.ts'
import { type CaptureTask, openForCapture, refuseAbsent } from './capture-task.ts'
import { type DecodeOutcome, type DecodeTask, type Decoding, decodeTogether } from './decoding.ts'
import { captureTogether, type JointRun, type JointSink } from './joint-capture.ts'
import { type JointMeasurement, measureInOneWorker, type PairsAsked } from './joint-measure.ts'
import { KeptSessions, logsFor, openOrTake, putAway, type SessionRequest } from './kept-sessions.ts'
import type { OutputFile } from './proxy.ts'
import { refuseFormat, refuseOutputs } from './refuse.ts'
import { addWarmUp } from './stage-durations.ts'
import type { WarmWorkers } from './warm-workers.ts'
import { type RuntimeKinds, type Worker, WorkerAllocator } from './worker-allocator.ts'

interface PoolOptions {
  /** How many workers may be busy at once. */
  readonly size: number
  readonly context: LaunchContext
  readonly limits: Limits
  /** Measures the limits; the system's by default. */
  readonly clock?: Clock
  /** A process for every case. */
  readonly isolate?: 'case'
  /** Runtimes that count before those of the registry. */
  readonly kinds?: RuntimeKinds
  /** Idle workers left by earlier pools; this pool leaves its own there too. */
  readonly warm?: WarmWorkers
}

interface CaptureRequest extends CaptureTask {
  /** In a fresh worker. */
  readonly alone?: boolean
  /** Called anew when the work is run a second time. */
  readonly makeSink: () => Promise<TensorSink>
  /** Becomes a trace of the outputs, in place of the sink, where the worker can write it. */
  readonly file?: OutputFile
}

interface IrRequest extends Task, Omit<IrOptions, 'target' | 'folder'> {
  readonly model: ModelRef
  /** An empty folder; called anew when the work is done a second time. */
  readonly makeFolder: () => Promise<string>
}

interface Captured {
  readonly values: readonly TraceValue[]
  readonly outputs: readonly ValueSpec[]
  readonly detail: Readonly<Record<string, string>>
  /** compile and warmUp as in OpeningDurations. */
  readonly durationsMs: { readonly compile: number | null; readonly warmUp: number | null; readonly run: number }
  readonly warnings: readonly string[]
  /** Nothing had run before in its worker. */
  readonly alone: boolean
  /** A worker died over this work, and it was done again alone in a fresh one. */
  readonly retried: boolean
  /** The outputs lie in the file, but for those that are equal to what was expected. */
  readonly isInFile: boolean
  readonly equal: readonly string[]
}

/** A model as its worker sees it. */
interface Inspected {
  readonly inputs: readonly ValueSpec[]
  readonly outputs: readonly ValueSpec[]
}

export interface Pool {
  probe(target: Target): Promise<Probe>
  schemaOf(target: Target): TargetSchema
  /** Opens a model and says what it takes and gives. */
  inspect(request: Task & SessionRequest): Promise<Inspected>
  /** Opens a model and says what weights it has; null: the worker cannot say. */
  listWeights(request: Task & SessionRequest): Promise<readonly WeightFacts[] | null>
  /** Opens, runs and closes a model in a worker. */
  capture(request: CaptureRequest): Promise<Captured>
  /** Runs models at the same time, and gives what they compute to one sink, made anew when the work is run a second time. */
  captureTogether(tasks: readonly CaptureTask[], makeSink: () => JointSink): Promise<Done<readonly JointRun[]>>
  /** Whether one worker can run both and measure them, so that only sums travel. */
  measuresTogether(reference: Target, target: Target): Promise<boolean>
  /** Runs both in one worker and measures there what they give. */
  measureTogether(tasks: readonly [CaptureTask, CaptureTask], asked: PairsAsked): Promise<Done<JointMeasurement>>
  /** One of the forms that its capabilities name: the path of its file; null where the target does not go that far. */
  writeIr(request: IrRequest): Promise<string | null>
  /**
   * Decodes with all of these at once, in one place: `follow` pulls a step of one or the other, so only one computes at
   * a time. After a worker's death it is called anew, with all of them from the start.
   */
  decode<T>(
    tasks: readonly DecodeTask[],
    follow: (decodings: readonly Decoding[]) => Promise<T>,
  ): Promise<DecodeOutcome<T>>
  /** Every case has processes of its own. */
  readonly isolatesCases: boolean
  close(): Promise<void>
}

export function createPool(options: PoolOptions): Pool {
  const kept = new KeptSessions()
  const allocator = new WorkerAllocator({ ...options, clear: (worker) => kept.clear(worker) })
  const probes = new Map<string, Promise<Probe>>()
  const keeps = options.isolate !== 'case'
  const schema = ({ runtime }: Target): RuntimeSchema => options.kinds?.[runtime]?.schema ?? findSchema(runtime)
  const probeOnce = (target: Target) =>
    remember(probes, JSON.stringify(target), () => probe(allocator, target, schema(target), keeps))
  return {
    probe: probeOnce,
    schemaOf: schema,
    isolatesCases: options.isolate === 'case',
    inspect: async (request) => {
      const work = (worker: Worker, _progress: AttemptProgress, alone: boolean) =>
        inspectIn(worker, request, alone ? null : kept)
      return (await workWithBlame(allocator, request, options.isolate === 'case', work)).value
    },
    listWeights: async (request) => {
      const work = (worker: Worker, _progress: AttemptProgress, alone: boolean) =>
        listWeightsIn(worker, request, alone ? null : kept)
      return (await workWithBlame(allocator, request, options.isolate === 'case', work)).value
    },
    capture: async (request) => {
      const work = (worker: Worker, progress: AttemptProgress, alone: boolean) =>
        captureIn(worker, request, progress, alone ? null : kept)
      const isolate = request.alone === true || options.isolate === 'case'
      const { value, retried } = await workWithBlame(allocator, request, isolate, work)
      return { ...value, retried }
    },
    captureTogether: (tasks, makeSink) => captureTogether(allocator, tasks, options.isolate === 'case', kept, makeSink),
    measuresTogether: async (reference, target) => {
      const info = await probeOnce(reference)
      return info.available && info.capabilities.measures === true && allocator.shareWorkers(reference, target)
    },
    measureTogether: (tasks, asked) => measureInOneWorker(allocator, tasks, asked, options.isolate === 'case'),
    writeIr: async (request) => {
      const isolate = options.isolate === 'case'
      return (await workWithBlame(allocator, request, isolate, (worker) => writeIrIn(worker, request))).value
    },
    decode: (tasks, follow) => decodeTogether(allocator, tasks, options.isolate === 'case', kept, follow),
    close: () => allocator.close(),
  }
}

async function probe(allocator: WorkerAllocator, target: Target, schema: RuntimeSchema, keep: boolean): Promise<Probe> {
  try {
    const worker = await allocator.acquire(target, { fresh: false })
    await allocator.release(target, worker, keep && worker.probe.available)
    if (!worker.probe.available) return worker.probe
    return { ...worker.probe, fingerprint: fingerprintTarget(target, schema, worker.probe.fingerprint) }
  } catch (error) {
    if (error instanceof WorkerFailure) return { available: false, reason: withLastLine(error) }
    const isRefusal = error instanceof RefusedRequest || (error instanceof UsageError && error.code === 'install')
    if (!isRefusal) throw error
    return { available: false, reason: error.message }
  }
}

function withLastLine(failure: WorkerFailure): string {
  const lastLine = failure.detail.stderr?.trimEnd().split('\n').at(-1)
  return lastLine ? `${failure.message}; its last output: ${lastLine}` : failure.message
}

async function inspectIn(worker: Worker, request: Task & SessionRequest, kept: KeptSessions | null) {
  refuseAbsent(worker, request)
  const { opened } = await openOrTake(worker, request, kept)
  await putAway(worker, request, opened, kept)
  const { inputs, outputs } = opened
  return { inputs, outputs }
}

async function listWeightsIn(worker: Worker, request: Task & SessionRequest, kept: KeptSessions | null) {
  const { capabilities } = refuseAbsent(worker, request)
  if (!capabilities.weights) return null
  const { opened } = await openOrTake(worker, request, kept)
  const weights = await worker.weights(opened.session)
  await putAway(worker, request, opened, kept)
  return weights
}

async function captureIn(
  worker: Worker,
  request: CaptureRequest,
  progress: AttemptProgress,
  kept: KeptSessions | null,
) {
  const { target, inputs } = request
  const { opened, compileMs, capabilities } = await openForCapture(worker, request, kept)
  const { session, outputs, detail } = opened
  const alone = worker.sessions === 1 && compileMs !== null
  progress.stage = 'run'
  let healthy = false
  try {
    refuseOutputs(target, capabilities, outputs)
    progress.stage = 'compile'
    const warmUp = opened.warms ? await worker.warm(session, inputs) : null
    progress.stage = 'run'
    const file = capabilities.files ? request.file : undefined
    const logs = logsFor(worker, request)
    const ran = file
      ? await worker.runIntoFile(session, inputs, file, logs)
      : await worker.run(session, inputs, await request.makeSink(), logs)
    const { values, warnings = [], equal = [] } = ran
    healthy = true
    const opening = addWarmUp(compileMs, warmUp)
    const durationsMs = { compile: opening.compileMs, warmUp: opening.warmUpMs, run: ran.durationMs }
    return { values, outputs, detail, warnings, alone, isInFile: file !== undefined, equal, durationsMs }
  } finally {
    await putAway(worker, request, opened, healthy ? kept : null)
  }
}

async function writeIrIn(worker: Worker, { target, form, weights, model, makeFolder }: IrRequest) {
  if (worker.probe.available) refuseFormat(worker.probe, model)
  const folder = await makeFolder()
  const file = await worker.writeIr(model, { target, form, folder, weights })
  return file === null ? null : join(folder, file)
}
