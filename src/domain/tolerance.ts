/**
 * A float passes if |t − r| ≤ rtol·|r| + scale·max|r| + atol + rounding at every place (but the allowed fraction) and
 * ‖t − r‖ ≤ relL2·‖r‖ + rounding·√n. Single elements and all-zero references have no scale and no norm: there it is
 * |t − r| ≤ min(rtol, relL2)·|r| + floor + atol + rounding.
 */
export interface Tolerance {
  readonly rtol: number
  /** Times the tensor's own largest magnitude. */
  readonly scale: number
  /** Limit of ‖t − r‖ / ‖r‖; null where the user gave elementwise limits only. */
  readonly relL2: number | null
  /** Added at every place; 0 in the table, because it knows nothing of the tensor's scale. */
  readonly atol: number
  /** Absolute limit, beside rtol, of single elements and all-zero references. */
  readonly floor: number
  /** What an op that computes around 1 rounds, however small its results are; 0 for all others. */
  readonly rounding: number
  /** Fraction of elements that may be over the elementwise limit. */
  readonly allowedMismatch: number
  /** Steps of the storage dtype that are always allowed; 0 where the user gave elementwise limits. */
  readonly storageUlps: number
}
