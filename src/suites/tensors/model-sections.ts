import type { DType } from '../../domain/dtype.ts'
import type { InputSetting } from '../../models/inputs/input-policy.ts'

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

/** What a configuration says about models that are judged by their tensors. */
export interface ModelSections {
  /** Files, folders and globs that are judged when the command line names none. */
  readonly models?: readonly string[]
  /** Model glob → input name → how it is filled. */
  readonly inputs?: Readonly<Record<string, Readonly<Record<string, InputSetting>>>>
  /** Model glob → symbolic dimension, or `input[axis]` → size or sizes. */
  readonly dims?: Readonly<Record<string, Readonly<Record<string, number | readonly number[]>>>>
  readonly tolerances?: readonly ConfigTolerance[]
}
