import type { DType } from '../domain/dtype.ts'
import type { InputSetting } from '../models/input-policy.ts'
import type { ToolchainSettings } from '../runtimes/toolchain/definition.ts'

export interface ConfigTarget {
  readonly runtime: string
  readonly version?: string
  readonly device?: string
  readonly options?: Readonly<Record<string, string | number | boolean>>
}

/** Limits for the outputs that meet every condition given. */
interface ConfigTolerance {
  /** Glob over case ids. */
  readonly match?: string
  /** Op type of the node that makes the output. */
  readonly op?: string
  /** Glob over output names. */
  readonly output?: string
  readonly dtype?: DType
  readonly rtol?: number
  readonly atol?: number
  /** Times the tensor's own largest magnitude. */
  readonly scale?: number
  readonly relL2?: number
  readonly allowedMismatch?: number
}

/** Training that `assay run` replays; paths as `assay converge` takes them. */
export interface ConvergenceSettings {
  readonly testConfigPath: string
  readonly storagePath: string
  readonly manifestName?: string
  readonly root?: string
}

/** Text-generation models, and the options of `assay decoders` that are not those of every command. */
export interface DecoderSettings {
  /** Folders or ids of a hub. */
  readonly models?: readonly string[]
  readonly tokenizer?: string
  readonly offline?: boolean
  /** Sizes, several with commas. */
  readonly batchSize?: number | string
  readonly promptLength?: number | string
  readonly maxNewTokens?: number | string
  readonly tokensPerSequence?: number
  readonly prompts?: string
  readonly topK?: number
  readonly gate?: 'paired' | 'rate' | 'three-way'
  readonly baseline?: string
  readonly thresholds?: string
  /** `ce,diff_mean` */
  readonly metricsThreshold?: string
  readonly failureRate?: number
  readonly skipAssertions?: string
  readonly tokensOnly?: boolean
  readonly forceLogits?: boolean
  readonly all?: boolean
  readonly micro?: boolean
  readonly microHome?: string
  readonly modelConfiguration?: string
  readonly modelFrequency?: number
  readonly logits?: 'top' | 'full'
  readonly validationInfoDir?: string
  readonly saveTraces?: boolean
  readonly validationInfoFormat?: 'assay' | 'fms'
  readonly log?: 'fms'
  readonly metricsDir?: string
}

/** What `assay.config.ts` may hold. Paths are relative to the file itself. */
export interface AssayConfig {
  /** Files, folders and globs that are judged when the command line names none. */
  readonly models?: readonly string[]
  /** Targets by name, usable in `--target` and `--reference`. */
  readonly targets?: Readonly<Record<string, string | ConfigTarget>>
  /** Compilers that are plain command lines, by name: the target `toolchain:<name>`. */
  readonly toolchains?: Readonly<Record<string, ToolchainSettings>>
  /** Model glob → input name → how it is filled. */
  readonly inputs?: Readonly<Record<string, Readonly<Record<string, InputSetting>>>>
  /** Model glob → symbolic dimension, or `input[axis]` → size or sizes. */
  readonly dims?: Readonly<Record<string, Readonly<Record<string, number | readonly number[]>>>>
  readonly tolerances?: readonly ConfigTolerance[]
  readonly decoders?: DecoderSettings
  readonly convergence?: readonly ConvergenceSettings[]
  /** Two, or more: cases on which they disagree are inconclusive. */
  readonly reference?: string | readonly string[]
  readonly target?: string | readonly string[]
  /** `hw=` and `chip=` of every target that names none; several with commas. */
  readonly hw?: string
  readonly chip?: string
  /** Address of the board of targets that name none; several with commas. */
  readonly board?: string
  /** `full`, `layers` or `full,layers`. */
  readonly scope?: string
  /** Ops judged as one layer, such as `Conv+Clip`. */
  readonly layerGroup?: readonly string[]
  /** `reference` or `random`. */
  readonly layerInputs?: string
  readonly seed?: number
  readonly jobs?: number
  /** Seconds, or text with a unit such as "5min". */
  readonly timeout?: number | string
  readonly memoryLimit?: number | string
  readonly outputLimit?: number | string
  /** The Python that runs engines such as onnxruntime: a path, or a name in PATH. */
  readonly python?: string
  readonly isolate?: 'case'
  readonly maxFailures?: number
  readonly recompute?: boolean
  /** Every intermediate product stays with the run. */
  readonly keep?: boolean
  readonly strict?: boolean
  /** File of the cases that are known not to pass. */
  readonly expected?: string
  readonly passWithNoTests?: boolean
  readonly reporter?: string | readonly string[]
  readonly outputDir?: string
  readonly cacheDir?: string
  readonly cacheSize?: number | string
  /** What tools print, as it comes. */
  readonly showOutput?: boolean
  readonly verbose?: boolean
  readonly rtol?: number
  readonly atol?: number
  readonly allowedMismatch?: number
  readonly shard?: string
  readonly durations?: string
  readonly dim?: readonly string[]
  readonly input?: readonly string[]
}

/** Gives an editor the types of `assay.config.ts`. */
export function defineConfig(config: AssayConfig): AssayConfig {
  return config
}
