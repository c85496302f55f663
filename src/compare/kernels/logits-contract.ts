import type { KernelName } from './contract.ts'

/** The first of the largest logits of both sides. */
export interface RowPeaks {
  readonly argMaxReference: number
  readonly argMaxTarget: number
  /** The reference's largest logit in every run of ROW_RUN; valid until the next row. */
  readonly peaks: Float32Array
}

/**
 * What a row of logits adds up to. With * the target's arg-max, y = t − t* and x = (r − t) − (r* − t*): sums over all
 * tokens but the arg-max, whose weight is 1 and whose x is 0.
 */
export interface RowSums {
  /** Σ e^y */
  readonly weight: number
  /** Σ e^y·y */
  readonly weightTarget: number
  /** Σ e^y·x */
  readonly weightDifference: number
  /** Σ e^y·(e^x − 1 − x) */
  readonly weightCurve: number
  /** Σ (e^x − 1) and Σ (e^x − 1)² */
  readonly ratio: number
  readonly ratioSquared: number
}

export interface LogitRows {
  readonly reference: Float32Array
  readonly target: Float32Array
}

/** Adds up one row after the other, in memory of their own. */
export interface LogitKernels {
  readonly name: KernelName
  /** Where the caller puts `size` finite logits of both sides, one at least. */
  rows(size: number): LogitRows
  /** Peaks of the row in memory; null if it is not finite. */
  findPeaks(size: number): RowPeaks | null
  /** Sums of that row, which is overwritten; null if it is too wide for these kernels or not finite. */
  addRow(size: number): RowSums | null
  /** Σ e^y·|scale·(e^x − 1) + constant| over the row that was added up last, without its arg-max. */
  addDistances(size: number, scale: number, constant: number): number
}
