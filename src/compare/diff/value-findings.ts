import type { DType } from '../../domain/dtype.ts'
import { digitsApart, formatNumber } from '../../domain/text.ts'
import type { OpenPair } from './element-reader.ts'
import { type DiffFinding, EXPLAINED, FEWEST, type FindingKind } from './finding.ts'
import { change } from './order-findings.ts'
import { Residual } from './residual.ts'
import { ROUNDINGS, type RoundedDType } from './round-numbers.ts'
import { type Samples, squaredDistance } from './samples.ts'
import type { Survey } from './survey.ts'

const BLOCK = 16384

/** A function that may have been applied to every value of the reference. */
interface ValueMap {
  readonly kind: FindingKind
  readonly words: string
  readonly undone: string
  readonly evidence: DiffFinding['evidence']
  apply(reference: Float64Array, out: Float64Array): void
}

/** Finds the simple function of the reference's values that fits the target best on all elements. */
export function valueFindings(
  pair: OpenPair,
  samples: Samples,
  survey: Survey,
  before: number,
  dtype: DType,
): DiffFinding[] {
  if (survey.sums.finite < FEWEST || isConstant(survey)) return []
  const likely = fittingSamples(likelyMaps(survey, dtype), samples)
  const proven = measureMaps(pair, likely).filter(({ residual }) => isProven(residual, survey, before))
  return bestOf(proven).map(({ map: { kind, words, undone, evidence }, residual }) => {
    const text = `${words}: ${change(before, residual.relL2)} ${undone}`
    return { kind, text, before, after: residual.relL2, evidence }
  })
}

interface MeasuredMap {
  readonly map: ValueMap
  readonly residual: Residual
}

/** The rest is small compared with the error and with the target's variation. */
function isProven({ relL2, dd, finite }: Residual, { target }: Survey, before: number): boolean {
  return relL2 <= EXPLAINED * before && Math.sqrt(dd / finite) <= EXPLAINED * (target.std ?? 0)
}

/** The maps that fit about equally well; scale-and-offset only if neither scale nor offset fits alone. */
function bestOf(proven: readonly MeasuredMap[]): MeasuredMap[] {
  const least = Math.min(...proven.map(({ residual }) => residual.relL2))
  const best = proven.filter(({ residual }) => residual.relL2 <= 2 * least)
  const simple = best.filter(({ map }) => map.kind !== 'scaled-and-offset')
  return simple.length > 0 ? simple : best
}

function isConstant({ reference }: Survey): boolean {
  return reference.min === reference.max
}

function likelyMaps(survey: Survey, dtype: DType): ValueMap[] {
  return [...linearMaps(survey), ...clippings(survey), ...roundings(dtype)]
}

function linearMaps({ sums }: Survey): ValueMap[] {
  const { finite, r, d, rr, dr } = sums
  const spread = rr - (r * r) / finite
  const factor = 1 + (dr - (d * r) / finite) / spread
  const offset = (d - (factor - 1) * r) / finite
  return [scaling(1 + dr / rr), linear('offset', 1, d / finite), linear('scaled-and-offset', factor, offset)]
}

function scaling(factor: number): ValueMap {
  if (Math.abs(factor + 1) > 1e-3) return linear('scaled', factor, 0)
  return { ...linear('sign-flipped', -1, 0), words: 'sign flipped: the target is minus the reference' }
}

function linear(kind: FindingKind, factor: number, offset: number): ValueMap {
  const [times, plus] = [factorText(factor), formatNumber(offset)]
  const words: Partial<Record<FindingKind, string>> = {
    scaled: `scaled: the target is the reference times ${times}`,
    offset: `offset: the target is the reference plus ${plus}`,
    'scaled-and-offset': `scaled and offset: the target is ${times} times the reference plus ${plus}`,
  }
  return {
    kind,
    words: words[kind] ?? kind,
    undone: 'once that is undone',
    evidence: { ...(factor !== 1 && { factor }), ...(offset !== 0 && { offset }) },
    apply(reference, out) {
      for (let i = 0; i < reference.length; i++) out[i] = factor * reference[i]! + offset
    },
  }
}

/** `0.003922 (1/255)` */
function factorText(factor: number): string {
  const inverse = Math.round(1 / factor)
  const isFraction = Math.abs(inverse) > 1 && Math.abs(inverse) <= 65536 && Math.abs(factor * inverse - 1) < 1e-5
  if (isFraction) return `${formatNumber(factor, 6)} (1/${inverse})`
  // Never "times 1".
  return formatNumber(factor, digitsApart([1, factor], 6))
}

function clippings({ reference, target }: Survey): ValueMap[] {
  const [low, high] = [target.min, target.max]
  if (low === null || high === null || reference.min === null || reference.max === null || low === high) return []
  const ends = [
    ...(low > reference.min ? [`below ${formatNumber(low)}`] : []),
    ...(high < reference.max ? [`above ${formatNumber(high)}`] : []),
  ]
  if (ends.length === 0) return []
  return [
    {
      kind: 'clipped',
      words: `clipped: the target has nothing ${ends.join(' and ')}, while the reference ranges from ${formatNumber(reference.min)} to ${formatNumber(reference.max)}`,
      undone: 'against the clipped reference',
      evidence: { low, high },
      apply(numbers, out) {
        for (let i = 0; i < numbers.length; i++) out[i] = Math.min(high, Math.max(low, numbers[i]!))
      },
    },
  ]
}

/** Coarser dtypes than the one that holds the numbers, the coarsest first. */
export function coarserDTypes(dtype: DType): RoundedDType[] {
  if (dtype === 'float64') return ['bfloat16', 'float16', 'float32']
  return dtype === 'float32' ? ['bfloat16', 'float16'] : dtype === 'float16' ? ['bfloat16'] : []
}

function roundings(dtype: DType): ValueMap[] {
  return coarserDTypes(dtype).map((coarser) => ({
    kind: 'rounded',
    words: `lower precision: the target is the reference rounded to ${coarser}`,
    undone: `against the rounded reference`,
    evidence: { dtype: coarser },
    apply: ROUNDINGS[coarser],
  }))
}

/** Samples need not fit as well as all elements must. */
const LENIENT = 4

/** Maps worth measuring on all elements, without scale-and-offset if one of the two fits as well. */
function fittingSamples(maps: readonly ValueMap[], { reference, target }: Samples): ValueMap[] {
  const mapped = new Float64Array(reference.length)
  const limit = LENIENT * EXPLAINED ** 2 * squaredDistance(target, reference)
  const fitting = maps.flatMap((map) => {
    map.apply(reference, mapped)
    const distance = squaredDistance(target, mapped)
    return distance <= limit ? [{ map, distance }] : []
  })
  const simple = fitting.filter(({ map }) => map.kind !== 'scaled-and-offset')
  const least = Math.min(...simple.map(({ distance }) => distance))
  return fitting.filter((one) => simple.includes(one) || one.distance < least / LENIENT).map(({ map }) => map)
}

/** Measures all maps in one pass, relative to the norm of the mapped reference. */
function measureMaps(pair: OpenPair, maps: readonly ValueMap[]): MeasuredMap[] {
  const measured = maps.map((map) => ({ map, residual: new Residual() }))
  if (maps.length === 0) return []
  const [r, t, mapped] = [new Float64Array(BLOCK), new Float64Array(BLOCK), new Float64Array(BLOCK)]
  for (let first = 0; first < pair.count; first += BLOCK) {
    const length = Math.min(BLOCK, pair.count - first)
    pair.reference.read(first, length, r)
    pair.target.read(first, length, t)
    for (const { map, residual } of measured) {
      map.apply(r.subarray(0, length), mapped)
      residual.add(t.subarray(0, length), mapped.subarray(0, length))
    }
  }
  return measured
}
