export const TENSOR_FILES = ['npy', 'raw', 'safetensors'] as const
export type TensorFiles = (typeof TENSOR_FILES)[number]

export const TOOL_STAGES = ['import', 'compile', 'run'] as const
export type ToolStage = (typeof TOOL_STAGES)[number]

/** Arguments with placeholders; those in a list of their own are repeated together. */
export type ArgvTemplate = readonly (string | readonly string[])[]

/** A compiler that is a plain command line, as a configuration describes it. Paths are relative to the configuration. */
export interface ToolchainSettings {
  /** Prints what it is; the first line is recorded. */
  readonly version?: readonly string[]
  /** Turns `{model}` into `{imported}`, which is then compiled. */
  readonly import?: ArgvTemplate
  /** Turns `{model}` or `{imported}` into `{artifact}`. */
  readonly compile: ArgvTemplate
  /** Runs `{artifact}` on `{input}` … or `{inputs}`, and writes `{output}` … or `{outputs}`. */
  readonly run: ArgvTemplate
  /** How tensors are handed over; npy by default. */
  readonly tensors?: TensorFiles
  /** Seconds, or text with a unit such as "5min"; by default what `--timeout` says. */
  readonly limits?: Readonly<Partial<Record<ToolStage, number | string>>>
  /** Variables that the tools get besides the usual ones. */
  readonly env?: readonly string[]
  /** Where the tools work; by default the folder of the configuration. */
  readonly cwd?: string
  /** Files that compile writes into `{ir_dir}`, in order, for `--debug-ir`. */
  readonly ir?: readonly string[]
  /** All that the tools consist of besides their programs (files, folders, globs): what they computed is kept while it stays the same. */
  readonly files?: readonly string[]
}

export interface IrFiles {
  readonly name: string
  /** In `{ir_dir}`. */
  readonly file: string
}

/** A toolchain that was read and checked. */
export interface Toolchain {
  readonly name: string
  readonly version: readonly string[] | null
  readonly argv: Readonly<Record<'compile' | 'run', ArgvTemplate>> & { readonly import: ArgvTemplate | null }
  readonly tensors: TensorFiles
  readonly limitsMs: Readonly<Partial<Record<ToolStage, number>>>
  readonly env: readonly string[]
  /** Absolute. */
  readonly cwd: string
  readonly ir: readonly IrFiles[]
  /** Absolute; null: nobody said what it consists of. */
  readonly files: readonly string[] | null
}

export type Toolchains = Readonly<Record<string, Toolchain>>
