/** What is known of all numbers of one side; moments are those of its finite numbers, null where there are none. */
export interface SideFacts {
  readonly count: number
  readonly finite: number
  readonly nan: number
  readonly infinite: number
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
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY
  #mean = 0
  #squares = 0

  add(numbers: Float64Array): void {
    this.#count += numbers.length
    const sum = sumOf(numbers)
    if (sum - sum === 0) this.#addFinite(numbers, sum)
    else this.#addSome(numbers)
  }

  #addSome(numbers: Float64Array): void {
    const finite = numbers.filter(Number.isFinite)
    for (let i = 0; i < numbers.length; i++) if (Number.isNaN(numbers[i])) this.#nan++
    if (finite.length > 0) this.#addFinite(finite, sumOf(finite))
  }

  #addFinite(numbers: Float64Array, sum: number): void {
    let min = this.#min
    let max = this.#max
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i]!
      if (value < min) min = value
      if (value > max) max = value
    }
    this.#min = min
    this.#max = max
    this.#merge(numbers.length, sum / numbers.length, numbers)
  }

  #merge(count: number, mean: number, numbers: Float64Array): void {
    const total = this.#finite + count
    const apart = mean - this.#mean
    this.#squares += squaresAround(numbers, mean) + apart * apart * ((this.#finite * count) / total)
    this.#mean += (apart * count) / total
    this.#finite = total
  }

  facts(): SideFacts {
    const isEmpty = this.#finite === 0
    return {
      count: this.#count,
      finite: this.#finite,
      nan: this.#nan,
      infinite: this.#count - this.#finite - this.#nan,
      min: isEmpty ? null : this.#min,
      max: isEmpty ? null : this.#max,
      mean: isEmpty ? null : this.#mean,
      std: isEmpty ? null : Math.sqrt(this.#squares / this.#finite),
    }
  }
}

/** In two sums, since each addition waits for the one before it. */
function sumOf(numbers: Float64Array): number {
  let [even, odd] = [0, 0]
  for (let i = 1; i < numbers.length; i += 2) {
    even += numbers[i - 1]!
    odd += numbers[i]!
  }
  return even + odd + (numbers.length % 2 === 1 ? numbers.at(-1)! : 0)
}

function squaresAround(numbers: Float64Array, mean: number): number {
  let [even, odd] = [0, 0]
  for (let i = 1; i < numbers.length; i += 2) {
    const a = numbers[i - 1]! - mean
    const b = numbers[i]! - mean
    even += a * a
    odd += b * b
  }
  return even + odd + (numbers.length % 2 === 1 ? (numbers.at(-1)! - mean) ** 2 : 0)
}
