import { peaksOf } from '../largest-ids.ts'
import type { LogitKernels, RowSums } from './logits-contract.ts'

/** Beyond, squares of e^x could overflow; infinite and NaN are beyond too. */
const WIDEST = 300

/** The referee for rows of logits: float64 and the exponentials of the host. */
export class ScalarLogitKernels implements LogitKernels {
  readonly name = 'scalar'
  #reference = new Float32Array(0)
  #target = new Float32Array(0)
  #weights = new Float64Array(0)
  #ratios = new Float64Array(0)

  rows(size: number): { reference: Float32Array; target: Float32Array } {
    if (this.#reference.length !== size) {
      this.#reference = new Float32Array(size)
      this.#target = new Float32Array(size)
      this.#weights = new Float64Array(size)
      this.#ratios = new Float64Array(size)
    }
    return { reference: this.#reference, target: this.#target }
  }

  addRow(size: number): RowSums | null {
    const [r, t] = [this.#reference, this.#target]
    const best = argMax(t)
    const offset = r[best]! - t[best]!
    for (let i = 0; i < size; i++) if (!(Math.abs(r[i]! - t[i]! - offset) <= WIDEST)) return null
    let [weight, weightTarget, weightDifference, weightCurve, ratio, ratioSquared] = [0, 0, 0, 0, 0, 0]
    for (let i = 0; i < size; i++) {
      const y = t[i]! - t[best]!
      const x = r[i]! - t[i]! - offset
      const e = i === best ? 0 : Math.exp(y)
      const more = Math.expm1(x)
      this.#weights[i] = e
      this.#ratios[i] = more
      weight += e
      weightTarget += e * y
      weightDifference += e * x
      weightCurve += e * curve(x, more)
      ratio += more
      ratioSquared += more * more
    }
    const ids = { argMaxReference: argMax(r), argMaxTarget: best, peaks: peaksOf(r) }
    return { ...ids, weight, weightTarget, weightDifference, weightCurve, ratio, ratioSquared }
  }

  addDistances(size: number, scale: number, constant: number): number {
    let sum = 0
    for (let i = 0; i < size; i++) sum += this.#weights[i]! * Math.abs(scale * this.#ratios[i]! + constant)
    return sum
  }
}

/** e^x − 1 − x; near 0 by its series, where the subtraction would leave few digits. */
export function curve(x: number, more: number): number {
  if (Math.abs(x) > 0.05) return more - x
  return ((((((x / 40320 + 1 / 5040) * x + 1 / 720) * x + 1 / 120) * x + 1 / 24) * x + 1 / 6) * x + 0.5) * x * x
}

/** The first of the largest. */
function argMax(row: Float32Array): number {
  let best = 0
  for (let i = 1; i < row.length; i++) if (row[i]! > row[best]!) best = i
  return best
}
