import type { ToolchainSettings } from '../../../runtimes/toolchain/definition.ts'

/** A target as an object, for specs that would be long. */
export interface ConfigTarget {
  readonly runtime: string
  readonly version?: string | undefined
  readonly device?: string | undefined
  readonly options?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** What a configuration says about what runs models. */
export interface TargetSections {
  /** Targets by name, usable in `--target` and `--reference`. */
  readonly targets?: Readonly<Record<string, string | ConfigTarget>>
  /** Compilers that are plain command lines, by name: the target `toolchain:<name>`. */
  readonly toolchains?: Readonly<Record<string, ToolchainSettings>>
}
