import { ROW_RUN } from './kernels/logits-layout.ts'

type Row = Float32Array | Float64Array

/**
 * Places of the `count` largest numbers, largest first, among equals the first place first; NaN is none of them.
 * `peaks` are the largest of every run.
 */
export function largestIds(row: Row, count: number, peaks: Row = peaksOf(row)): number[] {
  const limit = lowestWanted(peaks, count)
  const ids: number[] = []
  for (let run = 0; run < peaks.length; run++) {
    if (!(peaks[run]! >= limit)) continue
    const end = Math.min((run + 1) * ROW_RUN, row.length)
    for (let id = run * ROW_RUN; id < end; id++) if (row[id]! >= limit) ids.push(id)
  }
  ids.sort((a, b) => row[b]! - row[a]! || a - b)
  return ids.slice(0, count)
}

export function peaksOf<R extends Row>(row: R): R
export function peaksOf(row: Row): Row {
  const peaks = emptyLike(row, Math.ceil(row.length / ROW_RUN))
  for (let i = 0; i < row.length; i++) {
    const run = Math.floor(i / ROW_RUN)
    if (row[i]! > peaks[run]!) peaks[run] = row[i]!
  }
  return peaks
}

function emptyLike(row: Row, length: number): Row {
  const empty = row instanceof Float32Array ? new Float32Array(length) : new Float64Array(length)
  return empty.fill(Number.NEGATIVE_INFINITY)
}

/** No number below it is among the `count` largest: as many runs have one that is not below. */
function lowestWanted(peaks: Row, count: number): number {
  if (count === 0) return Number.POSITIVE_INFINITY
  const best = emptyLike(peaks, count)
  for (let run = 0; run < peaks.length; run++) {
    const peak = peaks[run]!
    if (!(peak > best[count - 1]!)) continue
    let at = count - 1
    for (; at > 0 && best[at - 1]! < peak; at--) best[at] = best[at - 1]!
    best[at] = peak
  }
  return best[count - 1]!
}
