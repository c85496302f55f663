/** Longer axes are kept in bins of a power of two. */
const MOST_BINS = 1 << 20

/** What was added up along one axis, by index, or by bins of indices of a long one. */
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

/** Adds up numbers of a tensor by index along every axis that has more than one. */
export class AxisProfiles {
  readonly #levels: readonly Level[]

  constructor(shape: readonly number[]) {
    this.#levels = shape.flatMap((size, axis) => (size > 1 ? [levelOf(axis, size)] : [])).reverse()
  }

  /** `numbers` belong to consecutive elements from `first` on. Sums along one axis are the numbers of the next one. */
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
    let sum = 0
    for (; at < end; at++, index++) {
      const value = values[at]!
      sums[index >>> shift]! += value
      sum += value
    }
    outer[o] = sum
    index = 0
  }
  return outer
}
