import { resolve } from 'node:path'
import { type Clock, SYSTEM_CLOCK } from '../../domain/clock.ts'
import type { TensorSink, TensorSpec, Trace } from '../../domain/tensor.ts'
import type {
  DecodeRequest,
  DecodeStep,
  IrOptions,
  Limits,
  MeasuredModelRun,
  ModelRef,
  ModelRun,
  OpenOptions,
  Probe,
  WeightFacts,
  WorkerLaunch,
} from '../contract.ts'
import type { WorkerFailure } from '../failure.ts'
import { decodeInputs, parseDecodeStep, StepTensors } from '../protocol/decode.ts'
import { ProtocolError } from '../protocol/frame.ts'
import {
  type BesideParams,
  type DecodeStartParams,
  type Opened,
  PROTOCOL,
  parseForm,
  parseHas,
  parseHello,
  parseMeasured,
  parseOpened,
  parseRan,
  parseWarmUp,
  parseWeights,
  type RunFiles,
  type WarmUp,
  type WireModel,
} from '../protocol/messages.ts'
import { listFiled, sendBytes, sendInputs, sendModel, wireModel } from '../protocol/outgoing.ts'
import { TensorGuard } from '../protocol/tensor-guard.ts'
import { type Blob, packModel } from './packed-model.ts'
import { WorkerConnection } from './worker-connection.ts'

interface StartOptions {
  /** Ends it while it starts. */
  readonly signal?: AbortSignal
  /** Measures its limits. */
  readonly clock?: Clock | undefined
}

/** Where the outputs of a run go. */
export interface OutputFile {
  readonly path: string
  /** Tensors in files, as the outputs will be if they are right: equal ones are not written again. */
  readonly expected?: Pick<Trace, 'tensors'>
  /** Outputs whose shapes are known. */
  readonly shapes?: readonly TensorSpec[]
  /** Their largest magnitudes and zeros are wanted. */
  readonly measures?: boolean
}

/** The host's side of one worker. */
export class WorkerProxy {
  readonly #line: WorkerConnection
  readonly #limits: Limits
  /** Its hello answer. */
  probe: Probe = { available: false, reason: 'it has not said hello' }
  sessions = 0

  private constructor(launch: WorkerLaunch, limits: Limits, clock: Clock) {
    this.#line = new WorkerConnection(launch, limits, clock)
    this.#limits = limits
  }

  static async start(
    launch: WorkerLaunch,
    device: string,
    limits: Limits,
    { signal, clock = SYSTEM_CLOCK }: StartOptions = {},
  ): Promise<WorkerProxy> {
    const worker = new WorkerProxy(launch, limits, clock)
    const params = { protocols: [PROTOCOL], device }
    const options = { limitMs: limits.startMs, doing: 'start', parse: parseHello }
    try {
      worker.probe = await worker.abortable(signal, () => worker.#line.request('hello', params, options))
      return worker
    } catch (error) {
      await worker.stop()
      throw error
    }
  }

  /** It will not answer any more. */
  get gone(): boolean {
    return this.#line.gone
  }

  /** Why starting another one would not help. */
  get lost(): WorkerFailure | null {
    return this.#line.lost
  }

  /** Its peak memory; null: unknown. */
  get peakBytes(): number | null {
    return this.#line.peakBytes
  }

  async open(model: ModelRef, options: OpenOptions): Promise<Opened> {
    this.sessions++
    this.#line.forgetPrinted()
    const params = { model: await this.#deliver(model), ...options }
    return this.#line.request('open', params, {
      limitMs: this.#limits.compileMs,
      doing: 'open the model',
      parse: parseOpened,
      send: (id) => sendModel(id, params.model, model),
    })
  }

  async writeIr(model: ModelRef, options: IrOptions): Promise<string | null> {
    this.#line.forgetPrinted()
    const params = { ...options, model: wireModel(model) }
    return this.#line.request('form', params, {
      limitMs: this.#limits.compileMs,
      doing: `give the form "${options.form}"`,
      parse: parseForm,
      send: (id) => sendModel(id, params.model, model),
    })
  }

  /** Sends what a worker without our files does not have yet. */
  async #deliver(model: ModelRef): Promise<WireModel> {
    if (!this.probe.available || !this.probe.capabilities.blobs) return wireModel(model)
    const packed = await packModel(model)
    for (const blob of packed.blobs) await this.#put(blob)
    return packed.model
  }

  async #put({ digest, byteLength, chunks }: Blob): Promise<void> {
    const limits = { limitMs: this.#limits.compileMs, doing: 'take the model' }
    const has = { ...limits, parse: parseHas }
    if (await this.#line.request('blob.has', { digest }, has)) return
    await this.#line.request(
      'blob.put',
      { digest, byteLength },
      {
        ...limits,
        parse: () => undefined,
        send: (id) => sendBytes(id, byteLength, chunks()),
      },
    )
  }

  /** Compiles for the shapes of these inputs, in the time that compiling may take. */
  async warm(session: number, inputs: Trace): Promise<WarmUp | null> {
    const params = { session, values: inputs.values }
    return this.#line.request('warm', params, {
      limitMs: this.#limits.compileMs,
      doing: 'compile the model for these inputs',
      parse: parseWarmUp,
      send: (id) => sendInputs(id, inputs),
    })
  }

  /** The same for the prompts of a batch and the steps after them. */
  async warmDecoding(session: number, request: DecodeRequest): Promise<WarmUp | null> {
    const inputs = decodeInputs(request)
    return this.#line.request('decode.warm', decodeParams(session, request, inputs), {
      limitMs: this.#limits.compileMs,
      doing: 'compile the model for these prompts',
      parse: parseWarmUp,
      send: (id) => sendInputs(id, inputs),
    })
  }

  async run(session: number, inputs: Trace, sink: TensorSink, logs?: string): Promise<ModelRun> {
    return this.#run(session, inputs, sink, logs, false)
  }

  /** As `run`, for a sink that needs no chunk any more once it has taken it. */
  async stream(session: number, inputs: Trace, sink: TensorSink, logs?: string): Promise<ModelRun> {
    return this.#run(session, inputs, sink, logs, true)
  }

  async #run(
    session: number,
    inputs: Trace,
    sink: TensorSink,
    logs: string | undefined,
    reuses: boolean,
  ): Promise<ModelRun> {
    const guard = new TensorGuard(this.#limits.outputBytes)
    const params = { session, values: inputs.values, ...(logs !== undefined && { logs }) }
    return this.#line.request('run', params, {
      limitMs: this.#limits.runMs,
      doing: 'run the model',
      parse: (result) => {
        const outcome = withKnownNames(parseRan(result))
        guard.finish(outcome.values)
        return outcome
      },
      send: (id) => sendInputs(id, inputs),
      onTensor: async (tensor, bytes) => sink(guard.accept(tensor, bytes)),
      reuses,
    })
  }

  /** As `run`, but inputs in files are read there, and the outputs become a trace in a file, without those that are as expected. */
  async runIntoFile(session: number, inputs: Trace, file: OutputFile, logs?: string): Promise<ModelRun> {
    const filed = listFiled(inputs)
    const files: RunFiles = { inputs: filed, ...fileOutputs(file, this.#limits.outputBytes) }
    const params = { session, values: inputs.values, files, ...(logs !== undefined && { logs }) }
    return this.#line.request('run', params, {
      limitMs: this.#limits.runMs,
      doing: 'run the model',
      parse: (result) => withKnownNames(parseRan(result), files.expected),
      send: (id) => sendInputs(id, inputs, filed),
    })
  }

  /** Its outputs stay in the worker, or are measured there against those that stayed. */
  async runBeside(session: number, inputs: Trace, beside: BesideParams): Promise<MeasuredModelRun> {
    return this.#line.request(
      'run',
      { session, values: inputs.values, beside },
      {
        limitMs: this.#limits.runMs,
        doing: 'run the model',
        parse: parseMeasured,
        send: (id) => sendInputs(id, inputs),
      },
    )
  }

  /** The worker stays reserved until the last step, or until the consumer stops. */
  async *decode(session: number, request: DecodeRequest): AsyncGenerator<DecodeStep, void> {
    await this.#startDecode(session, request)
    for (let step = 0; step < request.newTokens; step++) {
      const taken = await this.#stepDecode(session, request, step)
      yield taken
      if (taken.sequences.every((sequence) => sequence === null || sequence.ended)) return
    }
  }

  async #startDecode(session: number, request: DecodeRequest): Promise<void> {
    const inputs = decodeInputs(request)
    await this.#line.request('decode.start', decodeParams(session, request, inputs), {
      limitMs: this.#limits.runMs,
      doing: 'start to decode',
      parse: () => undefined,
      send: (id) => sendInputs(id, inputs),
    })
  }

  async #stepDecode(session: number, request: DecodeRequest, step: number): Promise<DecodeStep> {
    const tensors = new StepTensors(this.#limits.outputBytes, request.taps)
    const force = request.force?.(step)
    const at = request.keep === 'full' ? undefined : request.keep.at?.(step)
    const params = { session, step, ...(force && { force }), ...(at && { at }) }
    return this.#line.request('decode.step', params, {
      limitMs: this.#limits.runMs,
      doing: `decode step ${step}`,
      parse: (result) => parseDecodeStep(result, tensors, request, { step, at }),
      onTensor: (tensor, bytes) => tensors.add(tensor, bytes),
    })
  }

  async weights(session: number): Promise<readonly WeightFacts[]> {
    const options = { limitMs: this.#limits.compileMs, doing: 'list the weights', parse: parseWeights }
    return this.#line.request('weights', { session }, options)
  }

  async close(session: number): Promise<void> {
    const options = { limitMs: this.#limits.compileMs, doing: 'close the session', parse: () => undefined }
    await this.#line.request('close', { session }, options)
  }

  /** Runs some work during which an abort kills the worker. */
  abortable<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return this.#line.abortable(signal, work)
  }

  /** Lets it end by itself, and kills it when it does not. */
  stop(): Promise<void> {
    return this.#line.stop()
  }
}

/** As a worker is told. */
export function fileOutputs(file: OutputFile, byteLimit: number): Omit<RunFiles, 'inputs'> {
  const { path, expected, ...others } = file
  return { outputs: resolve(path), byteLimit, ...others, ...(expected && { expected: listFiled(expected) }) }
}

/** Only what was expected can be equal to it. */
function withKnownNames(ran: ModelRun, expected: RunFiles['expected'] = []): ModelRun {
  const unknown = ran.equal?.find((name) => !expected.some((tensor) => tensor.name === name))
  if (unknown === undefined) return ran
  throw new ProtocolError(`the worker says that "${unknown}" is as expected, of which nothing was expected`)
}

function decodeParams(session: number, { newTokens, eos, keep }: DecodeRequest, { values }: Trace): DecodeStartParams {
  return { session, values, newTokens, eos, keep: keep === 'full' ? keep : { topK: keep.topK } }
}
