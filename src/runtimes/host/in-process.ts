import type { TensorSink, TensorSpec, Trace } from '../../domain/tensor.ts'
import type {
  DecodeRequest,
  DecodeStep,
  IrOptions,
  MeasuredModelRun,
  ModelRef,
  ModelRun,
  OpenOptions,
  Probe,
  Runtime,
  Session,
  WeightFacts,
} from '../contract.ts'
import type { BesideParams, Opened } from '../protocol/messages.ts'
import { checkInputs } from '../worker/check-inputs.ts'
import { HeldOutputs } from '../worker/held-outputs.ts'
import { runIntoFile } from '../worker/tensor-files.ts'
import { fileOutputs, type OutputFile } from './proxy.ts'

/** A runtime in the host, with the same interface as a worker. */
export class InProcessHost {
  readonly #runtime: Runtime
  readonly #held = new HeldOutputs()
  readonly #sessions = new Map<number, Session>()
  readonly probe: Probe
  readonly gone = false
  readonly lost = null
  /** It is part of this very process. */
  readonly peakBytes = null
  sessions = 0

  private constructor(runtime: Runtime, probe: Probe) {
    this.#runtime = runtime
    this.probe = probe
  }

  static async start(runtime: Runtime, device: string): Promise<InProcessHost> {
    return new InProcessHost(runtime, withOwnFiles(await runtime.probe(device)))
  }

  async open(model: ModelRef, options: OpenOptions): Promise<Opened> {
    const startedAt = performance.now()
    const session = await this.#runtime.open(model, options)
    this.sessions++
    this.#sessions.set(this.sessions, session)
    const { inputs, outputs, detail } = session
    return { session: this.sessions, inputs, outputs, detail, durationMs: performance.now() - startedAt }
  }

  /** What runs in the host is ready once it is opened. */
  async warm(): Promise<null> {
    return null
  }

  async warmDecoding(): Promise<null> {
    return null
  }

  async run(
    id: number,
    inputs: Trace,
    sink: TensorSink,
    logs?: string,
    shapes?: readonly TensorSpec[],
  ): Promise<ModelRun> {
    const session = this.#sessions.get(id)!
    checkInputs(session.inputs, inputs)
    return session.run(inputs, sink, logs, shapes)
  }

  async stream(id: number, inputs: Trace, sink: TensorSink, logs?: string): Promise<ModelRun> {
    return this.run(id, inputs, sink, logs)
  }

  async runIntoFile(id: number, inputs: Trace, file: OutputFile, logs?: string): Promise<ModelRun> {
    const files = fileOutputs(file, Infinity)
    return runIntoFile(files, (sink) => this.run(id, inputs, sink, logs, files.shapes ?? files.expected))
  }

  async runBeside(id: number, inputs: Trace, beside: BesideParams): Promise<MeasuredModelRun> {
    const session = this.#sessions.get(id)!
    checkInputs(session.inputs, inputs)
    return this.#held.run(beside, (sink) => session.run(inputs, sink, undefined, beside.shapes, 'hold' in beside))
  }

  async *decode(id: number, request: DecodeRequest): AsyncGenerator<DecodeStep, void> {
    const session = this.#sessions.get(id)!
    if (!session.decode) throw new Error(`${this.#runtime.name} does not decode`)
    yield* session.decode(request)
  }

  async weights(id: number): Promise<readonly WeightFacts[]> {
    const session = this.#sessions.get(id)!
    if (!session.weights) throw new Error(`${this.#runtime.name} does not list weights`)
    return session.weights()
  }

  async close(id: number): Promise<void> {
    await this.#sessions.get(id)?.close()
    this.#sessions.delete(id)
  }

  async writeIr(model: ModelRef, options: IrOptions): Promise<string | null> {
    if (!this.#runtime.writeIr) throw new Error(`${this.#runtime.name} gives no forms`)
    return this.#runtime.writeIr(model, options)
  }

  async abortable<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    return work()
  }

  async stop(): Promise<void> {}
}

/** It is in the process whose files and memory they are. */
function withOwnFiles(probe: Probe): Probe {
  return probe.available ? { ...probe, capabilities: { ...probe.capabilities, files: true, measures: true } } : probe
}
