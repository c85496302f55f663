import { peaksOf } from '../largest-ids.ts'
import type { LogitKernels, RowSums } from './logits-contract.ts'
import { TokenSums } from './token-sums.ts'

/** The referee for rows of logits: float64 and the exponentials of the host. */
export class ScalarLogitKernels implements LogitKernels {
  readonly name = 'scalar'
  #reference = new Float32Array(0)
  #target = new Float32Array(0)
  #tokens: TokenSums | null = null

  rows(size: number): { reference: Float32Array; target: Float32Array } {
    if (this.#reference.length !== size) {
      this.#reference = new Float32Array(size)
      this.#target = new Float32Array(size)
    }
    return { reference: this.#reference, target: this.#target }
  }

  addRow(size: number): RowSums | null {
    const [r, t] = [this.#reference, this.#target]
    const best = argMax(t)
    const tokens = new TokenSums(r, t, best, size)
    this.#tokens = tokens
    if (!tokens.add(0, size)) return null
    return { argMaxReference: argMax(r), argMaxTarget: best, peaks: peaksOf(r), ...tokens.sums }
  }

  addDistances(_size: number, scale: number, constant: number): number {
    return this.#tokens?.distances(scale, constant) ?? 0
  }
}

/** The first of the largest. */
function argMax(row: Float32Array): number {
  let best = 0
  for (let i = 1; i < row.length; i++) if (row[i]! > row[best]!) best = i
  return best
}
