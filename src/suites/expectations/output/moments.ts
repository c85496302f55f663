/** Mean, root mean square, smallest and largest of the finite values, and how many of the others there are. */
export class Moments {
  #count = 0
  #sum = 0
  #squares = 0
  #min = Infinity
  #max = -Infinity
  #nan = 0
  #positive = 0
  #negative = 0

  add(values: Float64Array): void {
    for (const value of values) {
      if (value - value !== 0) this.#addStrange(value)
      else {
        this.#count++
        this.#sum += value
        this.#squares += value * value
        if (value < this.#min) this.#min = value
        if (value > this.#max) this.#max = value
      }
    }
  }

  #addStrange(value: number): void {
    if (value === Infinity) this.#positive++
    else if (value === -Infinity) this.#negative++
    else this.#nan++
  }

  /** Without any finite value all four are NaN. */
  figures() {
    const count = this.#count
    const none = count === 0
    return {
      count,
      mean: this.#sum / count,
      rms: Math.sqrt(this.#squares / count),
      min: none ? Number.NaN : this.#min,
      max: none ? Number.NaN : this.#max,
      nan: this.#nan,
      positive_infinity: this.#positive,
      negative_infinity: this.#negative,
    }
  }
}
