import type { PairedTensor } from '../compare/layers/paired-tensor.ts'
import type { ShaderLanguage } from '../compare/rules/promises.ts'
import type { DType } from '../domain/dtype.ts'
import type { Environment } from '../domain/environment.ts'
import type { Logits } from '../domain/logits.ts'
import type { HardwareKey, Target, TargetSchema } from '../domain/target.ts'
import type { TensorSink, TensorSpec, Trace, TraceValue, ValueSpec } from '../domain/tensor.ts'
import type { Toolchains } from './toolchain/definition.ts'

/** huggingface: a folder with a `config.json`, or such a file alone. */
export const MODEL_FORMATS = ['onnx', 'huggingface'] as const
export type ModelFormat = (typeof MODEL_FORMATS)[number]

/** A model as a session opens it: a file or folder, or edited bytes whose external data lies in `folder`. */
export type ModelRef =
  | { readonly format: ModelFormat; readonly path: string }
  | { readonly format: ModelFormat; readonly bytes: Uint8Array; readonly folder: string }

/** A model for a worker that cannot see our files: all in memory, external data by location. */
export interface ShippedModel {
  readonly format: ModelFormat
  readonly bytes: Uint8Array
  readonly external: ReadonlyMap<string, Uint8Array>
}

export type TransferKind = 'tensor' | 'sequence' | 'optional'

/** What a worker can do, as data; shared code asks for these and never for names. */
export interface Capabilities {
  /** Element types it takes as inputs, and returns unless `outputDtypes` differs. */
  readonly dtypes: readonly DType[]
  readonly outputDtypes?: readonly DType[]
  /** Kinds of values it takes and gives. */
  readonly kinds: readonly TransferKind[]
  readonly taps: boolean
  /** Taps may name what goes into a layer (`name:in`), and a run with taps may give that in place of what was computed. */
  readonly replay?: boolean
  readonly decode: boolean
  readonly profile: boolean
  /** Sessions may see memory left by earlier ones, so a failure is checked again in a fresh worker. */
  readonly sharedMemory?: boolean
  /** The kernel language, if it promises less accuracy than a processor's arithmetic. */
  readonly shaders?: ShaderLanguage
  /** It cannot see our files, so models are sent to it by content. */
  readonly blobs?: boolean
  /** It reads inputs from our files and writes outputs there, so that they do not travel. */
  readonly files?: boolean
  /** Running a model again costs no more than reading what it gave: only what several runs may need is stored. */
  readonly cheap?: boolean
  /** Parts of a model that share nothing give what each would give alone, so that one session can hold many. */
  readonly islands?: boolean
  /** It holds the outputs of one run and measures those of another against them, so that only sums travel. */
  readonly measures?: boolean
  /** It can say what weights a session has, such as random ones that lie in no file. */
  readonly weights?: boolean
  /** Names, in order, of the forms it can give that a model takes on its way to what runs: optimisation levels, phases … */
  readonly forms?: readonly string[]
}

/** What actually runs, for the record and for cache keys. */
export interface RuntimeInfo {
  readonly available: true
  readonly version: string
  readonly accepts: readonly ModelFormat[]
  readonly capabilities: Capabilities
  readonly detail: Readonly<Record<string, string>>
  /** Identity of everything that decides its results to the bit; null: unknown, so its traces are never cached. */
  readonly fingerprint: string | null
}

export type Probe = RuntimeInfo | { readonly available: false; readonly reason: string }

export interface OpenOptions {
  readonly target: Target
  readonly taps?: readonly string[]
  /** A folder for the tools' output; it may not exist yet. */
  readonly logs?: string
}

export interface IrOptions {
  readonly target: Target
  /** One of `Capabilities.forms`. */
  readonly form: string
  /** Exists and is empty. */
  readonly folder: string
  /** Absent: the weights are too large to write again, so the form may omit them. */
  readonly weights: 'inside' | 'absent'
}

export interface Runtime<Model = ModelRef> {
  readonly name: string
  probe(device: string): Promise<Probe>
  open(model: Model, options: OpenOptions): Promise<Session>
  /** Writes one form of the model to a file and returns its name; null if this target does not reach that form. */
  writeIr?(model: Model, options: IrOptions): Promise<string | null>
}

export interface ModelRun {
  readonly durationMs: number
  readonly values: readonly TraceValue[]
  /** Device warnings about completed work, such as a refused kernel. */
  readonly warnings?: readonly string[]
  /** Outputs that are what was expected, to the bit, and were not written for that. */
  readonly equal?: readonly string[]
}

/** A run whose outputs did not travel. */
export interface MeasuredModelRun extends ModelRun {
  /** In the order of the pairs that were asked for. */
  readonly measured: readonly PairedTensor[]
}

/** Greedy decoding of a batch, token after token. */
export interface DecodeRequest {
  /** (batch, prompt length); shorter prompts are padded on the left. */
  readonly ids: readonly (readonly number[])[]
  /** 1 for a token of the prompt, 0 for padding. */
  readonly mask: readonly (readonly number[])[]
  /** Without them: 0 for padding, then 0, 1, 2 … */
  readonly positions?: readonly (readonly number[])[]
  readonly newTokens: number
  /** A sequence ends with the first of these. */
  readonly eos: readonly number[]
  /** Asked before every step: tokens to append in place of the model's own choice; null: its own. */
  readonly force?: (step: number) => readonly (number | null)[] | undefined
  readonly keep: DecodeKeep
  /** Takes what the taps of the session give, step by step. */
  readonly taps?: TensorSink
}

/** Which logits to return: the largest, and those of ids requested before every step; or all. */
export type DecodeKeep =
  | { readonly topK: number; readonly at?: (step: number) => readonly (readonly number[])[] | undefined }
  | 'full'

export interface DecodeStep {
  readonly step: number
  readonly durationMs: number
  /** null for those that ended in an earlier step. */
  readonly sequences: readonly (SequenceStep | null)[]
  /** Device warnings about completed work, as for a run. */
  readonly warnings?: readonly string[]
}

/** What one sequence of a batch gave at one step. */
export interface SequenceStep {
  /** The id of the largest logit, the lowest among equals; null: no logit is a number. */
  readonly chosen: number | null
  /** The appended token; null: none could be. */
  readonly token: number | null
  readonly ended: boolean
  /** Over all logits, added up in float64. */
  readonly logSumExp: number
  readonly nonFinite: { readonly nan: number; readonly positiveInfinity: number; readonly negativeInfinity: number }
  /** Largest first, the lowest id first among equals; NaN is none of them. */
  readonly top?: { readonly ids: readonly number[]; readonly logits: Logits }
  readonly at?: Logits
  readonly logits?: Logits
}

/** A weight as it is computed with, without its numbers. */
export interface WeightFacts {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
  /** Of its bytes. */
  readonly sha256: string
}

export interface Session {
  readonly inputs: readonly ValueSpec[]
  readonly outputs: readonly ValueSpec[]
  /** What really ran this session: provider, threads, bundle … */
  readonly detail: Readonly<Record<string, string>>
  /**
   * `logs`: a folder for all that tools print on the way; it may not exist yet. `shapes`: outputs as far as they are known before; they
   * may then lie in memory that the next run uses. `stays`: that memory is good until the next run that stays.
   */
  run(
    inputs: Trace,
    sink: TensorSink,
    logs?: string,
    shapes?: readonly TensorSpec[],
    stays?: boolean,
  ): Promise<ModelRun>
  weights?(): Promise<readonly WeightFacts[]>
  /** Each pull is one step; the key-value cache stays where the model runs. */
  decode?(request: DecodeRequest): AsyncGenerator<DecodeStep, void>
  close(): Promise<void>
}

/** How the host starts a worker of this runtime. */
export interface WorkerLaunch {
  readonly argv: readonly string[]
  /** Private data for the worker, sent as its first frame, since anyone on the machine can read a command line. */
  readonly order?: object
  /** A description for people, if clearer than its command line. */
  readonly shown?: readonly string[]
  /** Variables that override inherited ones. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The environment it inherits from; that of this process by default. */
  readonly environment?: Environment
  /** Of the environment it gets the base and these variables; `ORT_*` names all that begin so. */
  readonly inherits: readonly string[]
  /** A third-party program, which may change before the next run in files unknown to Assay. */
  readonly isForeign?: true
  /** Limits that override the run's. */
  readonly limits?: Partial<Limits>
  /** Our own workers speak on file descriptor 3 and may print on stdout; others speak on stdout. */
  readonly channel: 'fd3' | 'stdout'
  /** A folder of its own, removed when the process has ended. */
  readonly scratch?: string
  /** Gets every line that it prints, as it comes. */
  readonly onOutput?: (line: string) => void
  /** Gets notices for the user, for example that it waits for a board. */
  readonly notice?: (text: string) => void
}

/** What a runtime says about its own spec strings, with the values that its options take. */
export interface RuntimeSchema extends TargetSchema {
  /** Which of hardware type, chip and board it passes on; the others are refused. */
  readonly hardware?: readonly HardwareKey[]
  /** The device is a name from this section of the configuration, which decides how much of `hardware` is used. */
  readonly describedIn?: 'toolchains'
  /** The only devices that it can have; without it, what is installed decides. */
  readonly devices?: readonly string[]
  /** Option → the only values it takes. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  /** Options that take a whole number from 1 up. */
  readonly counts?: readonly string[]
  /** Options that take a whole number from 0 up. */
  readonly wholeNumbers?: readonly string[]
  /** Options that take a version of a package. */
  readonly versions?: readonly string[]
  /** Options that take a time, such as 20s or 5min. */
  readonly durations?: readonly string[]
  /** Options that take the name of an environment variable. */
  readonly variables?: readonly string[]
  /** Refuses impossible targets; the device may still be empty if it is an address. */
  readonly check?: (target: Target) => void
}

/** Something outside of Assay that a target needs: a package, a browser. */
export interface Need {
  readonly name: string
  /** null: unknown before it runs, or before the registry is asked. */
  readonly version: string | null
  /** Its path; null: not installed. */
  readonly path: string | null
  /** Missing, but a run installs it. */
  readonly onFirstUse: boolean
  /** How to get it if it is missing. */
  readonly remedy: string
}

interface KindBase {
  readonly name: string
  readonly schema: RuntimeSchema
  /** What it would use and what is missing, without installing or asking a registry. */
  needs?(target: Target, context: LaunchContext): Promise<readonly Need[]>
  /** What the user must provide before it can be tried. */
  untried?(context: LaunchContext): string
}

/** A runtime that runs in worker processes. */
export interface WorkerKind extends KindBase {
  /** Options that belong to the process and not to a session; targets that differ in them never share a worker. */
  readonly processOptions: readonly string[]
  /** Only one exists at a time, so work for it waits; a function names the single resource that targets share. */
  readonly single?: true | ((target: Target) => string)
  /** Resolves (and possibly installs) what the worker needs. */
  launch(target: Target, context: LaunchContext, limits: Limits): Promise<WorkerLaunch>
}

/** A runtime that runs no third-party code and therefore runs in the host. */
export interface InProcessKind extends KindBase {
  create(target: Target, context: LaunchContext): Promise<Runtime>
}

/** A runtime as the host knows it. */
export type RuntimeKind = WorkerKind | InProcessKind

export interface LaunchContext {
  /** Where programs are looked for and what they inherit. */
  readonly environment: Environment
  /** The user's project: where its own copies of a runtime are looked for. */
  readonly projectFolder: string
  /** false: the folder is not trusted, and none of its copies is run. */
  readonly usesProject?: boolean
  /** Where runtimes are installed that the project does not have. */
  readonly runtimesFolder: string
  /** The Python given by the user, as a path or a name in PATH. */
  readonly python?: string
  /** Compilers that the configuration describes, by name. */
  readonly toolchains?: Toolchains
  /** Names the run where resources are exclusive; without it nothing waits. */
  readonly owner?: string
  readonly notice: (text: string) => void
  /** Gets what workers print, as it comes, with the target that they were started for. */
  readonly onOutput?: (target: string, line: string) => void
}

/** Wall-clock limits of the stages, and how much a worker may hold or send. */
export interface Limits {
  readonly startMs: number
  readonly compileMs: number
  readonly runMs: number
  /** Resident memory of a worker and its children; null: no limit. */
  readonly memoryBytes: number | null
  /** All outputs of one run. */
  readonly outputBytes: number
}

export const DEFAULT_LIMITS: Limits = {
  startMs: 60_000,
  compileMs: 300_000,
  runMs: 300_000,
  memoryBytes: null,
  outputBytes: 4 * 2 ** 30,
}
