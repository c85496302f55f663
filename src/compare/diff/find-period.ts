import type { AxisProfile } from './axis-profiles.ts'

const LONGEST = 64
/** How often a pattern must repeat. */
const REPEATS = 4
/** The share of the profile's variance that its average period must explain. */
const REGULAR = 0.9
/** The strongest index of a period against the average one. */
const CONTRAST = 2

export interface Period {
  readonly period: number
  /** Indices within a period that are strong. */
  readonly residues: readonly number[]
  /** Their share of the total. */
  readonly share: number
}

/** The shortest period along an axis that the profile keeps repeating; null if there is none. */
export function findPeriod({ size, binSize, sums }: AxisProfile): Period | null {
  if (binSize > 1) return null
  const total = sums.reduce((sum, value) => sum + value, 0)
  const variance = squaresAround(sums, () => total / size)
  for (let period = 2; period <= Math.min(LONGEST, size / REPEATS); period++) {
    const folded = fold(sums, period)
    const most = Math.max(...folded)
    if (most < (CONTRAST * total) / size) continue
    if (squaresAround(sums, (index) => folded[index % period]!) > (1 - REGULAR) * variance) continue
    const residues = Array.from(folded.keys()).filter((residue) => folded[residue]! >= most / 2)
    const held = sums.reduce((sum, value, index) => (residues.includes(index % period) ? sum + value : sum), 0)
    return { period, residues, share: held / total }
  }
  return null
}

/** The mean for each residue of the period. */
function fold(sums: Float64Array, period: number): Float64Array {
  const [folded, counts] = [new Float64Array(period), new Float64Array(period)]
  for (let i = 0; i < sums.length; i++) {
    folded[i % period]! += sums[i]!
    counts[i % period]!++
  }
  return folded.map((sum, residue) => sum / counts[residue]!)
}

function squaresAround(sums: Float64Array, centreOf: (index: number) => number): number {
  let squares = 0
  for (let i = 0; i < sums.length; i++) squares += (sums[i]! - centreOf(i)) ** 2
  return squares
}
