import { type DType, dtypeKind } from '../../domain/dtype.ts'
import { formatNumber } from '../../domain/text.ts'
import type { ElementReader, OpenPair } from './element-reader.ts'
import { type DiffFinding, FEWEST } from './finding.ts'
import { ROUNDINGS, type RoundedDType } from './round-numbers.ts'
import type { Samples } from './samples.ts'
import type { Survey } from './survey.ts'
import { coarserDTypes } from './value-findings.ts'

const BLOCK = 16384
const MOST_LEVELS = 256
/** A number this close to a grid point, in steps, counts as on the grid. */
const GRID_SLACK = 1e-3
/** More than this share of the reference's numbers must be off the grid. */
const OFF_REFERENCE = 0.5

/** Whether the target's values come from a coarser set than the reference's. */
export function gridFindings(pair: OpenPair, samples: Samples, survey: Survey, dtype: DType): DiffFinding[] {
  if (survey.sums.finite < 2 * FEWEST || dtypeKind(dtype) !== 'float') return []
  const found = quantised(pair, samples, survey) ?? storedAs(pair, samples, dtype)
  return found ? [found] : []
}

function storedAs(pair: OpenPair, { reference, target }: Samples, dtype: DType): DiffFinding | null {
  const coarser = coarserDTypes(dtype).find(
    (name) => countOff(target, name) === 0 && countOff(reference, name) > OFF_REFERENCE * reference.length,
  )
  if (!coarser) return null
  const off = (reader: ElementReader) => countAll(pair, reader, (numbers) => countOff(numbers, coarser))
  if (off(pair.target) > 0) return null
  const share = 100 * (1 - off(pair.reference) / pair.count)
  const text = `lower precision: all ${pair.count} values of the target are ${coarser} numbers; of the reference's, ${formatNumber(share, 2)} % are`
  return {
    kind: 'precision',
    text,
    before: null,
    after: null,
    evidence: { dtype: coarser, referenceShare: share / 100 },
  }
}

function countOff(numbers: Float64Array, dtype: RoundedDType): number {
  const rounded = new Float64Array(numbers.length)
  ROUNDINGS[dtype](numbers, rounded)
  let count = 0
  for (let i = 0; i < numbers.length; i++) {
    if (rounded[i] !== numbers[i] && Number.isFinite(numbers[i])) count++
  }
  return count
}

function countAll(pair: OpenPair, reader: ElementReader, count: (numbers: Float64Array) => number): number {
  const numbers = new Float64Array(BLOCK)
  let total = 0
  for (let first = 0; first < pair.count; first += BLOCK) {
    const length = Math.min(BLOCK, pair.count - first)
    reader.read(first, length, numbers)
    total += count(numbers.subarray(0, length))
  }
  return total
}

function quantised(pair: OpenPair, samples: Samples, { target }: Survey): DiffFinding | null {
  const step = stepOf(samples.target)
  if (step === null || target.min === null || target.max === null) return null
  const levels = Math.round((target.max - target.min) / step) + 1
  const start = target.min
  const off = (numbers: Float64Array) => countBeside(numbers, start, step)
  if (levels > MOST_LEVELS || off(samples.reference) <= OFF_REFERENCE * samples.reference.length) return null
  if (countAll(pair, pair.target, off) > 0) return null
  const text = `quantised: all ${pair.count} values of the target lie on a grid of ${levels} levels, ${formatNumber(step)} apart; the reference's do not`
  return { kind: 'quantised', text, before: null, after: null, evidence: { step, levels } }
}

/** The smallest distance of two values, if there are few values and all lie on that grid; else null. */
function stepOf(numbers: Float64Array): number | null {
  const values = Float64Array.from(new Set(numbers.filter(Number.isFinite))).sort()
  if (values.length < 3 || values.length > Math.min(MOST_LEVELS, numbers.length / 4)) return null
  let step = Number.POSITIVE_INFINITY
  for (let i = 1; i < values.length; i++) step = Math.min(step, values[i]! - values[i - 1]!)
  return countBeside(values, values[0]!, step) === 0 ? step : null
}

function countBeside(numbers: Float64Array, start: number, step: number): number {
  let count = 0
  for (let i = 0; i < numbers.length; i++) {
    const steps = (numbers[i]! - start) / step
    if (!(Math.abs(steps - Math.round(steps)) <= GRID_SLACK)) count++
  }
  return count
}
