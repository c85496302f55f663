import type { DType } from '../domain/dtype.ts'
import type { InputSetting } from '../models/inputs/input-policy.ts'
import type { FileValues } from '../options/in-file.ts'
import type { ToolchainSettings } from '../runtimes/toolchain/definition.ts'
import type { DECODER_OPTIONS } from './decoder-options.ts'
import type { TEST_OPTIONS } from './option-table.ts'

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
export interface DecoderSettings extends FileValues<typeof DECODER_OPTIONS> {
  /** Folders or ids of a hub. */
  readonly models?: readonly string[]
}

/** What `assay.config.ts` may hold. Paths are relative to the file itself. */
export interface AssayConfig extends FileValues<typeof TEST_OPTIONS> {
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
}

/** Gives an editor the types of `assay.config.ts`. */
export function defineConfig(config: AssayConfig): AssayConfig {
  return config
}
