import { setMaxListeners } from 'node:events'
import { SkipCase, StageError, UsageError } from '../domain/errors.ts'
import type { Target, TargetSchema } from '../domain/target.ts'
import type { TensorSink, Trace, TraceValue, ValueSpec } from '../domain/tensor.ts'
import type { Side, Stage } from '../domain/verdict.ts'
import type { LaunchContext, Limits, ModelRef, Probe } from './contract.ts'
import { Crew, type Worker } from './crew.ts'
import { RefusedRequest, WorkerFailure } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import { KeptSessions } from './kept-sessions.ts'
import { refuseInputs, refuseOutputs } from './refuse.ts'
import { schemaOf } from './registry.ts'

interface PoolOptions {
  /** Workers that may be busy at once. */
  readonly size: number
  readonly context: LaunchContext
  readonly limits: Limits
  /** A process for every case. */
  readonly isolate?: 'case'
}

interface CaptureRequest {
  readonly target: Target
  readonly side: Side
  /** In a worker where nothing ran before. */
  readonly alone?: boolean
  readonly model: ModelRef
  /** Stands for the model's content: its session stays open for equal models that come later. */
  readonly shareAs?: string
  readonly inputs: Trace
  /** Outputs as far as they are known before the model is opened: what the worker cannot give is skipped. */
  readonly expects?: readonly ValueSpec[]
  readonly taps?: readonly string[]
  /** Called anew when the work is run a second time. */
  readonly makeSink: () => Promise<TensorSink>
  readonly signal?: AbortSignal
}

interface Captured {
  readonly values: readonly TraceValue[]
  readonly outputs: readonly ValueSpec[]
  readonly detail: Readonly<Record<string, string>>
  /** compile is null where a session of an equal model was still open. */
  readonly durationsMs: { readonly compile: number | null; readonly run: number }
  readonly warnings: readonly string[]
  /** Nothing had run before in its worker. */
  readonly alone: boolean
  /** A worker died over this work, and it was done again alone in a fresh one. */
  readonly retried: boolean
}

export interface Pool {
  probe(target: Target): Promise<Probe>
  schemaOf(target: Target): TargetSchema
  /** Opens, runs and closes a model in a worker. */
  capture(request: CaptureRequest): Promise<Captured>
  close(): Promise<void>
}

export function createPool(options: PoolOptions): Pool {
  const crew = new Crew(options)
  const kept = new KeptSessions()
  const probes = new Map<string, Promise<Probe>>()
  return {
    probe: (target) => cached(probes, JSON.stringify(target), () => probe(crew, target, options.isolate !== 'case')),
    schemaOf: (target) => schemaOf(target.runtime),
    capture: (request) =>
      captureWithBlame({ crew, kept }, request, request.alone === true || options.isolate === 'case'),
    close: () => crew.close(),
  }
}

function cached<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}

async function probe(crew: Crew, target: Target, keep: boolean): Promise<Probe> {
  try {
    const worker = await crew.acquire(target, { fresh: false })
    await crew.release(target, worker, keep && worker.probe.available)
    if (!worker.probe.available) return worker.probe
    return { ...worker.probe, fingerprint: fingerprintOf(target, schemaOf(target.runtime), worker.probe.fingerprint) }
  } catch (error) {
    if (error instanceof WorkerFailure) return { available: false, reason: withLastLine(error) }
    const isRefusal = error instanceof RefusedRequest || (error instanceof UsageError && error.code === 'install')
    if (!isRefusal) throw error
    return { available: false, reason: error.message }
  }
}

function withLastLine(failure: WorkerFailure): string {
  const lastLine = failure.detail.stderr?.trimEnd().split('\n').at(-1)
  return lastLine ? `${failure.message}; its last words: ${lastLine}` : failure.message
}

interface Staff {
  readonly crew: Crew
  readonly kept: KeptSessions
}

/** A death may be the fault of earlier work in the same worker, so it counts only when it happens again alone. */
async function captureWithBlame(staff: Staff, request: CaptureRequest, isolate: boolean): Promise<Captured> {
  // Every case in flight listens to the same signal.
  if (request.signal) setMaxListeners(0, request.signal)
  const first = await attempt(staff, request, isolate)
  if (!(first instanceof Blamed)) return { ...first, retried: false }
  if (first.failure.kind !== 'died' && first.failure.kind !== 'memory') throw first.toError(request, null)
  const second = await attempt(staff, request, true)
  if (second instanceof Blamed) throw first.toError(request, second.failure)
  return { ...second, retried: true }
}

/** A worker failed while it did this stage. */
class Blamed {
  readonly failure: WorkerFailure
  readonly stage: Stage
  constructor(failure: WorkerFailure, stage: Stage) {
    this.failure = failure
    this.stage = stage
  }

  toError({ target, side, signal }: CaptureRequest, later: WorkerFailure | null): unknown {
    const { kind, message, detail } = this.failure
    if ((kind === 'aborted' || later?.kind === 'aborted') && signal?.aborted) return signal.reason
    const text = `${target.name}: ${message}${later ? whatCameLater(this.failure, later) : ''}`
    return new StageError(this.stage, text, { side, detail, cause: this.failure })
  }
}

function whatCameLater(first: WorkerFailure, second: WorkerFailure): string {
  const isSame = first.message === second.message || (first.kind === 'memory' && second.kind === 'memory')
  return isSame
    ? ', twice, the second time alone in a fresh worker'
    : `; then, alone in a fresh worker: ${second.message}`
}

async function attempt(
  { crew, kept }: Staff,
  request: CaptureRequest,
  alone: boolean,
): Promise<Omit<Captured, 'retried'> | Blamed> {
  const { target, signal } = request
  const progress: { stage: Stage } = { stage: 'compile' }
  try {
    const worker = await crew.acquire(target, { fresh: alone, ...(signal && { signal }) })
    try {
      return await worker.abortable(signal, () => captureIn(worker, request, progress, alone ? null : kept))
    } finally {
      await crew.release(target, worker, !alone)
    }
  } catch (error) {
    if (error instanceof WorkerFailure) return new Blamed(error, progress.stage)
    throw asStageError(error, request, progress.stage)
  }
}

function asStageError(error: unknown, { target, side }: CaptureRequest, stage: Stage): unknown {
  if (error instanceof RefusedRequest) {
    return new StageError(stage, `${target.name}: ${error.message}`, { side, detail: error.detail })
  }
  if (!(error instanceof StageError) || error.side) return error
  return new StageError(error.stage, `${target.name}: ${error.message}`, { side, detail: error.detail, cause: error })
}

async function captureIn(
  worker: Worker,
  request: CaptureRequest,
  progress: { stage: Stage },
  kept: KeptSessions | null,
) {
  const { target, side, inputs, expects = [], taps } = request
  if (!worker.probe.available) throw new StageError('compile', `${target.name}: ${worker.probe.reason}`, { side })
  const { capabilities } = worker.probe
  if (taps && !capabilities.taps) throw new SkipCase(`${target.name} cannot give taps`)
  refuseInputs(target, capabilities, inputs)
  refuseOutputs(target, capabilities, expects)
  const { opened, compileMs } = await openOrTake(worker, request, kept)
  const { session, outputs, detail } = opened
  const alone = worker.sessions === 1 && compileMs !== null
  progress.stage = 'run'
  let healthy = false
  try {
    refuseOutputs(target, capabilities, outputs)
    const ran = await worker.run(session, inputs, await request.makeSink())
    const { values, warnings = [] } = ran
    healthy = true
    return { values, outputs, detail, warnings, alone, durationsMs: { compile: compileMs, run: ran.durationMs } }
  } finally {
    const key = healthy && kept ? sessionKey(request) : null
    if (!worker.gone) await (key ? kept!.keep(worker, key, opened) : worker.close(session))
  }
}

async function openOrTake(worker: Worker, request: CaptureRequest, kept: KeptSessions | null) {
  const { target, model, taps } = request
  const key = sessionKey(request)
  const found = key === null ? undefined : kept?.take(worker, key)
  if (found) return { opened: found, compileMs: null }
  const startedAt = performance.now()
  const opened = await worker.open(model, taps ? { target, taps } : { target })
  return { opened, compileMs: opened.durationMs ?? performance.now() - startedAt }
}

function sessionKey({ target, shareAs, taps }: CaptureRequest): string | null {
  return shareAs === undefined || taps ? null : JSON.stringify([shareAs, target.options])
}
