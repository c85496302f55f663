import type { LogitRows, RowSums } from './logits-contract.ts'

/** Beyond, squares of e^x could overflow; infinite and NaN are beyond too. */
const WIDEST = 300

const NOTHING: RowSums = {
  weight: 0,
  weightTarget: 0,
  weightDifference: 0,
  weightCurve: 0,
  ratio: 0,
  ratioSquared: 0,
}

/** Sums of tokens of one row after the other in float64, with the exponentials of the host; those of the arg-max, `best`, are left out. */
export class TokenSums {
  readonly #weights: Float64Array
  readonly #ratios: Float64Array
  #rows: LogitRows = { reference: new Float32Array(), target: new Float32Array() }
  #best = 0
  #count = 0
  #others = 0
  #sums: RowSums = NOTHING

  /** `most`: tokens of a row. */
  constructor(most: number) {
    this.#weights = new Float64Array(most)
    this.#ratios = new Float64Array(most)
  }

  begin(rows: LogitRows, best: number): void {
    this.#rows = rows
    this.#best = best
    this.#count = 0
    this.#others = 0
    this.#sums = NOTHING
  }

  /** How many were added, the arg-max not counted. */
  get others(): number {
    return this.#others
  }

  get sums(): RowSums {
    return this.#sums
  }

  /** Tokens from `from` up to `to` that have at least `least` in the target; false where one is too wide. */
  add(from: number, to: number, least = Number.NEGATIVE_INFINITY): boolean {
    const { reference: r, target: t } = this.#rows
    const offset = r[this.#best]! - t[this.#best]!
    let { weight, weightTarget, weightDifference, weightCurve, ratio, ratioSquared } = this.#sums
    let at = this.#count
    for (let id = from; id < to; id++) {
      if (t[id]! < least) continue
      const y = t[id]! - t[this.#best]!
      const x = r[id]! - t[id]! - offset
      if (!(Math.abs(x) <= WIDEST)) return false
      const e = id === this.#best ? 0 : Math.exp(y)
      const more = Math.expm1(x)
      if (id !== this.#best) this.#others++
      this.#weights[at] = e
      this.#ratios[at] = more
      at++
      weight += e
      weightTarget += e * y
      weightDifference += e * x
      weightCurve += e * curve(x, more)
      ratio += more
      ratioSquared += more * more
    }
    this.#count = at
    this.#sums = { weight, weightTarget, weightDifference, weightCurve, ratio, ratioSquared }
    return true
  }

  /** Σ e^y·|scale·(e^x − 1) + constant| over all that were added. */
  distances(scale: number, constant: number): number {
    let sum = 0
    for (let i = 0; i < this.#count; i++) sum += this.#weights[i]! * Math.abs(scale * this.#ratios[i]! + constant)
    return sum
  }
}

/** e^x − 1 − x; near 0 by its series, where the subtraction would leave few digits. */
export function curve(x: number, more: number): number {
  if (Math.abs(x) > 0.05) return more - x
  return ((((((x / 40320 + 1 / 5040) * x + 1 / 720) * x + 1 / 120) * x + 1 / 24) * x + 1 / 6) * x + 0.5) * x * x
}
