import { ROW_RUN } from './kernels/logits-layout.ts'

type Row = Float32Array | Float64Array

/**
 * Places of the `count` largest numbers, largest first, among equals the first place first; NaN is none of them.
 * `peaks` are the largest of every run.
 */
export function largestIds(row: Row, count: number, peaks: Row = findRowPeaks(row)): number[] {
  if (count === 0) return []
  const runs = largestRuns(peaks, count)
  const limit = runs.length < count ? Number.NEGATIVE_INFINITY : peaks[runs[count - 1]!]!
  const ids: number[] = []
  for (const run of runs) {
    const end = Math.min((run + 1) * ROW_RUN, row.length)
    for (let id = run * ROW_RUN; id < end; id++) if (row[id]! >= limit) ids.push(id)
  }
  ids.sort((a, b) => row[b]! - row[a]! || a - b)
  return ids.slice(0, count)
}

export function findRowPeaks<R extends Row>(row: R): R
export function findRowPeaks(row: Row): Row {
  const length = Math.ceil(row.length / ROW_RUN)
  const peaks = row instanceof Float32Array ? new Float32Array(length) : new Float64Array(length)
  peaks.fill(Number.NEGATIVE_INFINITY)
  for (let i = 0; i < row.length; i++) {
    const run = Math.floor(i / ROW_RUN)
    if (row[i]! > peaks[run]!) peaks[run] = row[i]!
  }
  return peaks
}

/** Those with the largest peaks, largest first, among equals the first: the `count` largest numbers are all in them. */
function largestRuns(peaks: Row, count: number): number[] {
  const runs: number[] = []
  let least = Number.NEGATIVE_INFINITY
  for (let run = 0; run < peaks.length; run++) {
    const peak = peaks[run]!
    if (runs.length < count ? Number.isNaN(peak) : !(peak > least)) continue
    let at = Math.min(runs.length, count - 1)
    for (; at > 0 && peaks[runs[at - 1]!]! < peak; at--) runs[at] = runs[at - 1]!
    runs[at] = run
    if (runs.length === count) least = peaks[runs[count - 1]!]!
  }
  return runs
}
