/** Longer axes are kept in bins of a power of two. */
const MOST_BINS = 1 << 20

/** Sums along one axis, by index or, for long axes, by bins of indices. */
export interface AxisProfile {
  readonly axis: number
  readonly size: number
  /** Indices per bin. */
  readonly binSize: number
  readonly sums: Float64Array
}

interface Level {
  readonly axis: number
  readonly size: number
  readonly shift: number
  readonly sums: Float64Array
}

/** Adds up a tensor's numbers by index, along every axis with more than one index. */
export class AxisProfiles {
  readonly #levels: readonly Level[]

  constructor(shape: readonly number[]) {
    this.#levels = shape.flatMap((size, axis) => (size > 1 ? [levelOf(axis, size)] : [])).reverse()
  }

  /** `numbers` belong to consecutive elements starting at `first`. The sums along one axis are added up along the next. */
  add(first: number, numbers: Float64Array): void {
    let [at, values] = [first, numbers]
    for (const level of this.#levels) {
      values = addLevel(level, at, values)
      at = Math.floor(at / level.size)
    }
  }

  list(): AxisProfile[] {
    return this.#levels.map(({ axis, size, shift, sums }) => ({ axis, size, binSize: 2 ** shift, sums })).reverse()
  }
}

/** The sums of several parts of one tensor. */
export function joinProfiles(parts: readonly (readonly AxisProfile[])[]): AxisProfile[] {
  const [first = [], ...others] = parts
  return first.map((profile, i) => {
    const sums = profile.sums.slice()
    for (const other of others) {
      const more = other[i]!.sums
      for (let bin = 0; bin < sums.length; bin++) sums[bin]! += more[bin]!
    }
    return { ...profile, sums }
  })
}

function levelOf(axis: number, size: number): Level {
  let shift = 0
  while (size / 2 ** shift > MOST_BINS) shift++
  return { axis, size, shift, sums: new Float64Array(Math.ceil(size / 2 ** shift)) }
}

function addLevel({ size, shift, sums }: Level, first: number, values: Float64Array): Float64Array {
  let index = first % size
  const outer = new Float64Array(Math.floor((index + values.length - 1) / size) + 1)
  let at = 0
  for (let o = 0; o < outer.length; o++) {
    const end = Math.min(at + size - index, values.length)
    outer[o] = shift === 0 ? addEach(sums, index, values, at, end) : addBins(sums, index, shift, values, at, end)
    at = end
    index = 0
  }
  return outer
}

/** Returns the sum of all. It keeps two partial sums, so that additions need not wait for each other. */
function addEach(sums: Float64Array, index: number, values: Float64Array, from: number, to: number): number {
  let [even, odd] = [0, 0]
  let at = from
  for (; at + 1 < to; at += 2, index += 2) {
    sums[index]! += values[at]!
    sums[index + 1]! += values[at + 1]!
    even += values[at]!
    odd += values[at + 1]!
  }
  if (at === to) return even + odd
  sums[index]! += values[at]!
  return even + odd + values[at]!
}

/** Like addEach, for an axis whose indices share bins. */
function addBins(
  sums: Float64Array,
  index: number,
  shift: number,
  values: Float64Array,
  from: number,
  to: number,
): number {
  let sum = 0
  for (let at = from; at < to; ) {
    const bin = Math.floor((index + at - from) / 2 ** shift)
    const end = Math.min(to, (bin + 1) * 2 ** shift - index + from)
    let part = 0
    for (; at < end; at++) part += values[at]!
    sums[bin]! += part
    sum += part
  }
  return sum
}
