/** Sorted numbers, so that one sort serves all percentiles. NaN has no place among them. */
export function sorted(values: Iterable<number>): Float64Array {
  const numbers = Float64Array.from(values).sort()
  if (Number.isNaN(numbers.at(-1))) throw new RangeError('NaN has no rank; count NaN values separately')
  return numbers
}

/** With linear interpolation between the two nearest ranks, to the last bit as NumPy does it; null: no numbers. */
export function percentile(numbers: Float64Array, percent: number): number | null {
  if (numbers.length === 0) return null
  const rank = (numbers.length - 1) * (percent / 100)
  const below = Math.floor(rank)
  const [low, high] = [numbers[below]!, numbers[Math.min(below + 1, numbers.length - 1)]!]
  const part = rank - below
  if (low === high) return low
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part)
}

export function median(values: Iterable<number>): number | null {
  return percentile(sorted(values), 50)
}
