import { findRowPeaks } from '../largest-ids.ts'
import type { LogitKernels, LogitRows, RowPeaks, RowSums } from './logits-contract.ts'
import { TokenSums } from './token-sums.ts'

/** The referee for rows of logits: float64 and the exponentials of the host. */
export class ScalarLogitKernels implements LogitKernels {
  readonly name = 'scalar'
  #rows: LogitRows = { reference: new Float32Array(), target: new Float32Array() }
  #tokens = new TokenSums(0)

  rows(size: number): LogitRows {
    if (this.#rows.reference.length !== size) {
      this.#rows = { reference: new Float32Array(size), target: new Float32Array(size) }
      this.#tokens = new TokenSums(size)
    }
    return this.#rows
  }

  findPeaks(): RowPeaks {
    const { reference, target } = this.#rows
    return { argMaxReference: argMax(reference), argMaxTarget: argMax(target), peaks: findRowPeaks(reference) }
  }

  addRow(size: number): RowSums | null {
    this.#tokens.begin(this.#rows, argMax(this.#rows.target))
    return this.#tokens.add(0, size) ? this.#tokens.sums : null
  }

  addDistances(_size: number, scale: number, constant: number): number {
    return this.#tokens.distances(scale, constant)
  }
}

/** The first of the largest. */
function argMax(row: Float32Array): number {
  let best = 0
  for (let i = 1; i < row.length; i++) if (row[i]! > row[best]!) best = i
  return best
}
