import type { DType } from '../domain/dtype.ts'
import type { Target, TargetSchema } from '../domain/target.ts'
import type { TensorSink, Trace, TraceValue, ValueSpec } from '../domain/tensor.ts'

export type ModelFormat = 'onnx'

/** A model as a session opens it: a file, or edited bytes whose external data lies in `folder`. */
export type ModelRef =
  | { readonly format: ModelFormat; readonly path: string }
  | { readonly format: ModelFormat; readonly bytes: Uint8Array; readonly folder: string }

/** What a worker can do, as data; shared code asks for these and never for names. */
export interface Capabilities {
  readonly dtypes: readonly DType[]
  /** Kinds of values it takes and gives. */
  readonly kinds: readonly ('tensor' | 'sequence' | 'optional')[]
  readonly taps: boolean
  readonly decode: boolean
  readonly profile: boolean
}

/** What really runs, for the record and for cache keys. */
export interface RuntimeInfo {
  readonly available: true
  readonly version: string
  readonly accepts: readonly ModelFormat[]
  readonly capabilities: Capabilities
  readonly detail: Readonly<Record<string, string>>
  /** Identity of all that decides the bits it computes; null: unknown, so its traces are never taken from the cache. */
  readonly fingerprint: string | null
}

export type Probe = RuntimeInfo | { readonly available: false; readonly reason: string }

export interface OpenOptions {
  readonly target: Target
  readonly taps?: readonly string[]
}

export interface Runtime {
  readonly name: string
  probe(device: string): Promise<Probe>
  open(model: ModelRef, options: OpenOptions): Promise<Session>
}

export interface RunOutcome {
  readonly durationMs: number
  readonly values: readonly TraceValue[]
}

export interface Session {
  readonly inputs: readonly ValueSpec[]
  readonly outputs: readonly ValueSpec[]
  /** What really ran this session: provider, threads, bundle … */
  readonly detail: Readonly<Record<string, string>>
  run(inputs: Trace, sink: TensorSink): Promise<RunOutcome>
  close(): Promise<void>
}

/** How the host starts a worker of this runtime. */
export interface WorkerLaunch {
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Our own workers speak on file descriptor 3 and may print on stdout; others speak on stdout. */
  readonly channel: 'fd3' | 'stdout'
}

/** A runtime as the host knows it: how to read its spec strings and how to start its workers. */
export interface RuntimeKind {
  readonly name: string
  readonly schema: TargetSchema
  /** Resolves (and installs, where that is its way) what the worker needs. Null: runs in the host, see `inProcess`. */
  launch(target: Target, context: LaunchContext): Promise<WorkerLaunch>
}

export interface LaunchContext {
  /** The user's project: where its own copies of a runtime are looked for. */
  readonly projectFolder: string
  /** Where runtimes are installed that the project does not have. */
  readonly runtimesFolder: string
  readonly notice: (text: string) => void
}
