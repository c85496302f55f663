import type { DType } from '../domain/dtype.ts'

/** A float passes if |t − r| ≤ rtol·|r| + scale·max|r| + atol at every place (but the allowed fraction) and relL2 ≤ relL2. */
export interface Tolerance {
  readonly rtol: number
  /** Times the tensor's own largest magnitude. */
  readonly scale: number
  /** Limit of ‖t − r‖ / ‖r‖; null where the user gave elementwise limits only. */
  readonly relL2: number | null
  /** Absolute floor; alone decides single elements and all-zero references together with rtol. */
  readonly atol: number
  /** Fraction of elements that may be over the elementwise limit. */
  readonly allowedMismatch: number
}

export type Scope = 'model' | 'layer'

/** Precisions with a row in the tolerance table. */
export type ComputeDType = Extract<
  DType,
  'float64' | 'float32' | 'float16' | 'bfloat16' | 'int8' | 'float8e4m3fn' | 'float8e5m2'
>

/** How to find the values that an index output selects, row-major in the output's own order. */
export interface Selection {
  readonly op: 'ArgMax' | 'ArgMin' | 'TopK' | 'NonMaxSuppression'
  /** The indexed tensor. */
  readonly tensor: string
  readonly axis: number
  readonly keepDims: boolean
}

export type Rule =
  | { readonly kind: 'float'; readonly tolerance: Tolerance; readonly source: string }
  | { readonly kind: 'quantised'; readonly steps: number; readonly allowedMismatch: number; readonly source: string }
  | { readonly kind: 'index'; readonly selection: Selection; readonly tolerance: Tolerance; readonly source: string }
  | { readonly kind: 'exact'; readonly source: string; readonly flags: readonly string[] }
