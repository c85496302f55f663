import type { TensorSource } from '../domain/tensor.ts'

/** Two tensors of one name; null where a side has none. */
export interface TensorPair {
  readonly name: string
  readonly reference: TensorSource | null
  readonly target: TensorSource | null
}
