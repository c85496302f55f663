/** Sums the difference that remains after undoing an explanation. */
export class Residual {
  dd = 0
  rr = 0
  /** Pairs that were compared, finite on both sides. */
  finite = 0

  add(target: Float64Array, reference: Float64Array): void {
    let [dd, rr, odd] = [0, 0, 0]
    for (let i = 0; i < target.length; i++) {
      const r = reference[i]!
      const d = target[i]! - r
      if (d - d !== 0) {
        odd++
        continue
      }
      dd += d * d
      rr += r * r
    }
    this.dd += dd
    this.rr += rr
    this.finite += target.length - odd
  }

  /** ‖t − r‖ / ‖r‖; infinite where r is zero and t is not. */
  get relL2(): number {
    if (this.rr === 0) return this.dd === 0 ? 0 : Number.POSITIVE_INFINITY
    return Math.sqrt(this.dd / this.rr)
  }
}

/** The residual of two parts together. */
export function joined(one: Residual, other: Residual): Residual {
  const both = new Residual()
  both.dd = one.dd + other.dd
  both.rr = one.rr + other.rr
  both.finite = one.finite + other.finite
  return both
}
