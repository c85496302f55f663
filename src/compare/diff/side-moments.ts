/** What is known of all numbers of one side; moments are those of its finite numbers, null where there are none. */
export interface SideFacts {
  readonly count: number
  readonly finite: number
  readonly nan: number
  readonly infinite: number
  readonly zeros: number
  readonly min: number | null
  readonly max: number | null
  readonly mean: number | null
  readonly std: number | null
}

/** Adds up moments block by block, each around its own mean, so that a large mean costs no digits. */
export class SideMoments {
  #count = 0
  #finite = 0
  #nan = 0
  #zeros = 0
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY
  #mean = 0
  #squares = 0

  add(numbers: Float64Array): void {
    let [finite, sum, zeros] = [0, 0, 0]
    let [min, max] = [this.#min, this.#max]
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i]!
      if (value - value !== 0) continue
      finite++
      sum += value
      if (value === 0) zeros++
      if (value < min) min = value
      if (value > max) max = value
    }
    this.#count += numbers.length
    this.#zeros += zeros
    this.#min = min
    this.#max = max
    if (finite < numbers.length) this.#countNan(numbers)
    if (finite > 0) this.#merge(numbers, finite, sum / finite)
  }

  #countNan(numbers: Float64Array): void {
    for (let i = 0; i < numbers.length; i++) if (Number.isNaN(numbers[i])) this.#nan++
  }

  #merge(numbers: Float64Array, finite: number, mean: number): void {
    let squares = 0
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i]! - mean
      if (value - value === 0) squares += value * value
    }
    const total = this.#finite + finite
    const apart = mean - this.#mean
    this.#squares += squares + apart * apart * ((this.#finite * finite) / total)
    this.#mean += (apart * finite) / total
    this.#finite = total
  }

  facts(): SideFacts {
    const isEmpty = this.#finite === 0
    return {
      count: this.#count,
      finite: this.#finite,
      nan: this.#nan,
      infinite: this.#count - this.#finite - this.#nan,
      zeros: this.#zeros,
      min: isEmpty ? null : this.#min,
      max: isEmpty ? null : this.#max,
      mean: isEmpty ? null : this.#mean,
      std: isEmpty ? null : Math.sqrt(this.#squares / this.#finite),
    }
  }
}
