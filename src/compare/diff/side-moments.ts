/** Statistics of one side; moments are over its finite numbers, null if there are none. */
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

/** The sums, in a form that can be sent between threads. */
export interface MomentSums {
  readonly count: number
  readonly finite: number
  readonly nan: number
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly squares: number
}

const NOTHING: MomentSums = {
  count: 0,
  finite: 0,
  nan: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  mean: 0,
  squares: 0,
}

/** Adds up moments block by block, each around its own mean, so that a large mean loses no digits. */
export class SideMoments {
  #sums = NOTHING

  get sums(): MomentSums {
    return this.#sums
  }

  /** A block of finite numbers whose moments are known. */
  join(count: number, [mean, squares, min, max]: readonly [number, number, number, number]): void {
    this.#sums = joinMoments(this.#sums, { count, finite: count, nan: 0, min, max, mean, squares })
  }

  add(numbers: Float64Array): void {
    const sum = sumOf(numbers)
    const areFinite = sum - sum === 0
    const finite = areFinite ? numbers : numbers.filter(Number.isFinite)
    const nan = areFinite ? 0 : numbers.filter(Number.isNaN).length
    const mean = (areFinite ? sum : sumOf(finite)) / Math.max(1, finite.length)
    this.#sums = joinMoments(this.#sums, { ...momentsOf(finite, mean), count: numbers.length, nan })
  }
}

function momentsOf(numbers: Float64Array, mean: number): Omit<MomentSums, 'count' | 'nan'> {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  let even = 0
  let odd = 0
  const pairs = numbers.length - (numbers.length % 2)
  // In two sums, since each addition waits for the one before it.
  for (let i = 0; i < pairs; i += 2) {
    const a = numbers[i]!
    const b = numbers[i + 1]!
    if (a < min) min = a
    if (a > max) max = a
    if (b < min) min = b
    if (b > max) max = b
    even += (a - mean) * (a - mean)
    odd += (b - mean) * (b - mean)
  }
  const last = numbers.length === pairs ? mean : numbers[pairs]!
  const squares = even + odd + (last - mean) ** 2
  const isOdd = numbers.length > pairs
  return {
    finite: numbers.length,
    min: isOdd ? Math.min(min, last) : min,
    max: isOdd ? Math.max(max, last) : max,
    mean,
    squares,
  }
}

function joinMoments(a: MomentSums, b: MomentSums): MomentSums {
  const finite = a.finite + b.finite
  const apart = b.mean - a.mean
  const part = finite === 0 ? 0 : b.finite / finite
  return {
    count: a.count + b.count,
    finite,
    nan: a.nan + b.nan,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    mean: a.mean + apart * part,
    squares: a.squares + b.squares + apart * apart * a.finite * part,
  }
}

/** Combines all parts. */
export function momentFacts(parts: readonly MomentSums[]): SideFacts {
  const { count, finite, nan, min, max, mean, squares } = parts.reduce(joinMoments, NOTHING)
  const isEmpty = finite === 0
  return {
    count,
    finite,
    nan,
    infinite: count - finite - nan,
    min: isEmpty ? null : min,
    max: isEmpty ? null : max,
    mean: isEmpty ? null : mean,
    std: isEmpty ? null : Math.sqrt(squares / finite),
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
