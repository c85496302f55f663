import { ABSOLUTE_32, ABSOLUTE_BINS, BINS, RELATIVE_32, RELATIVE_BINS } from '../layout'

@inline
function count(bins: i32, from: i32): void {
  const bin = bins + (load<u16>(from, 2) << 2)
  store<u32>(bin, load<u32>(bin) + 1)
}

/** Adds the errors of a block, found by scan or addUp, to both histograms. */
export function countErrors(numbers: i32): void {
  const end = numbers << 2
  for (let at: i32 = 0; at < end; at += 4) {
    count(ABSOLUTE_BINS, ABSOLUTE_32 + at)
    count(RELATIVE_BINS, RELATIVE_32 + at)
  }
}

export function clearBins(): void {
  memory.fill(ABSOLUTE_BINS, 0, BINS << 2)
  memory.fill(RELATIVE_BINS, 0, BINS << 2)
}
