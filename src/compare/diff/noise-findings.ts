import { formatNumber } from '../../domain/text.ts'
import { formatMeasured } from '../rules/rule-text.ts'
import { MOST_SCATTERED } from './axis-maps.ts'
import { type DiffFinding, FEWEST } from './finding.ts'
import { canTestOrders } from './memory-orders.ts'
import type { Survey } from './survey.ts'

/** Fewer elements cannot show that there is no structure. */
const FEWEST_FOR_NOISE = 1024
/** A correlation of this size explains 1 % of the squared error; few elements have larger ones by chance. */
const NO_CORRELATION = 0.1
const CHANCE = 4
/** How many times its even share one index of an axis may have. */
const UNEVEN = 3
const FEWEST_PER_INDEX = 16

/** Facts that distinguish noise from structure, measured on all elements. */
interface NoiseFacts {
  /** Correlation of the error with the reference, and with its neighbour in memory. */
  readonly withReference: number
  readonly withNeighbour: number
  /** Correlation of the target with the reference. */
  readonly betweenSides: number
  /** The mean error, in standard deviations of the error. */
  readonly bias: number
  /** The largest share of any index, times the number of indices. */
  readonly unevenness: number
}

/** The finding when nothing else explains the difference: noise if it behaves like noise, otherwise unexplained. */
export function remainingFinding(survey: Survey, relL2: number, shape: readonly number[]): DiffFinding {
  const facts = noiseFacts(survey)
  const { finite } = survey.sums
  const isNoise = finite >= FEWEST_FOR_NOISE && isStructureless(facts, finite)
  const numbers = `correlation with the reference ${show(facts.withReference)}, with its neighbour in memory ${show(facts.withNeighbour)}, mean ${show(facts.bias)} of its standard deviation, at most ${show(facts.unevenness)} times an even share at any index of an axis`
  const evidence = { ...facts }
  if (isNoise) {
    const text = `noise: the error has no structure, relL2 ${formatMeasured(relL2)}: ${numbers}`
    return { kind: 'noise', text, before: relL2, after: null, evidence }
  }
  return {
    kind: 'unexplained',
    text: unexplainedText(facts, finite, numbers, testedText(shape)),
    before: relL2,
    after: null,
    evidence,
  }
}

/** Lists the explanations that failed, and those that were not tried because the shape is too large. */
function testedText(shape: readonly number[]): string {
  const order = canTestOrders(shape) ? ['transposed'] : []
  const slices = shape.every((size) => size <= MOST_SCATTERED) ? ['permuted', 'reversed'] : []
  const words = [...order, ...slices, 'rolled', 'scaled', 'offset', 'clipped', 'rounded', 'periodic']
  const left = [
    ...(order.length > 0 ? [] : ['other orders of this many axes']),
    ...(slices.length > 0 ? [] : [`slices along axes of more than ${MOST_SCATTERED} indices`]),
  ]
  return `${words.join(', ')}, nor confined to a part${left.length > 0 ? ` (not tried: ${left.join(', ')})` : ''}`
}

function unexplainedText({ betweenSides }: NoiseFacts, finite: number, numbers: string, tested: string): string {
  if (finite < FEWEST) return `no explanation: too many would fit ${finite} ${finite === 1 ? 'element' : 'elements'}`
  const start = `no simple explanation: it is not ${tested}`
  if (finite < FEWEST_FOR_NOISE) return `${start}; ${finite} elements are too few to call it noise`
  if (Math.abs(betweenSides) <= limitFor(finite)) {
    return `no simple explanation: the two sides are unrelated (correlation ${show(betweenSides)}), and it is not ${tested}`
  }
  return `${start}, nor plain noise: the error's ${numbers}`
}

function show(value: number): string {
  return formatNumber(Number(value.toPrecision(2)))
}

function limitFor(finite: number): number {
  return Math.max(NO_CORRELATION, CHANCE / Math.sqrt(finite))
}

function isStructureless({ withReference, withNeighbour, bias, unevenness }: NoiseFacts, finite: number): boolean {
  const limit = limitFor(finite)
  const isSmall = (value: number) => Math.abs(value) <= limit
  return isSmall(withReference) && isSmall(withNeighbour) && isSmall(bias) && unevenness <= UNEVEN
}

function noiseFacts({ sums, axes, reference }: Survey): NoiseFacts {
  const { finite, r, d, rr, dd, dr, neighbours } = sums
  const mean = d / finite
  const errorSpread = dd / finite - mean * mean
  const spread = rr / finite - (r / finite) ** 2
  const shares = axes.flatMap(({ size, sums: squares, binSize }) =>
    reference.count / size >= FEWEST_PER_INDEX && binSize === 1 ? [(size * largestOf(squares)) / dd] : [],
  )
  const covariance = dr / finite - mean * (r / finite)
  const targetSpread = spread + 2 * covariance + errorSpread
  return {
    withReference: spread > 0 ? covariance / Math.sqrt(errorSpread * spread) : 0,
    withNeighbour: (neighbours / finite - mean * mean) / errorSpread,
    betweenSides: spread > 0 ? (spread + covariance) / Math.sqrt(spread * targetSpread) : 0,
    bias: mean / Math.sqrt(errorSpread),
    unevenness: Math.max(1, ...shares),
  }
}

function largestOf(squares: Float64Array): number {
  return squares.reduce((most, value) => Math.max(most, value), 0)
}
