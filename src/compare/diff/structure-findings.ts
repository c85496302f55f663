import { formatNumber } from '../../domain/text.ts'
import { unravelIndex } from '../pairs/worst-places.ts'
import type { AxisProfile } from './axis-profiles.ts'
import { findPeriod } from './find-period.ts'
import { type DiffFinding, FEWEST } from './finding.ts'
import type { Survey } from './survey.ts'

/** The share that counts as nearly all. */
const NEARLY_ALL = 0.95
const MOST_LISTED = 8
const HALF_LARGEST = 65504

export function percent(share: number): string {
  return `${share > 0.999 && share < 1 ? '>99.9' : formatNumber(100 * share, 3)} %`
}

const plain = (kind: DiffFinding['kind'], text: string, evidence: DiffFinding['evidence'] = {}): DiffFinding => ({
  kind,
  text,
  before: null,
  after: null,
  evidence,
})

/** NaN and infinities that are not the same on both sides. */
export function nonFiniteFindings({ nonFinite }: Survey, shape: readonly number[]): DiffFinding[] {
  const { count, first, nanInTarget, infiniteInTarget, signsDiffer, kindsDiffer, axes } = nonFinite
  if (count === 0 || first === null) return []
  const finiteInTarget = count - nanInTarget - infiniteInTarget - signsDiffer - kindsDiffer
  const kinds = [
    [nanInTarget, 'NaN in the target where the reference is finite'],
    [infiniteInTarget, `infinite in the target where the reference is finite${overflow(nonFinite)}`],
    [signsDiffer, 'infinite on both sides, with the opposite sign in the target'],
    [kindsDiffer, 'NaN on one side and infinite on the other'],
    [finiteInTarget, 'finite in the target where the reference is not'],
  ].flatMap(([places, words]) => (places === 0 ? [] : [`${places} ${words}`]))
  const text = `not finite: ${kinds.join('; ')}; the first at [${unravelIndex(first, shape).join(', ')}]`
  const where = axes.flatMap((profile) => concentration(profile)?.words ?? [])
  const places = where.length > 0 && count > 1 ? `; ${where.map((words) => `${words} of them`).join(', ')}` : ''
  return [plain('non-finite', `${text}${places}`, { count, nanInTarget, infiniteInTarget, first })]
}

function overflow({ leastInfinite, mostFinite }: Survey['nonFinite']): string {
  if (leastInfinite === null) return ''
  const least = `, starting at |reference| = ${formatNumber(leastInfinite, 6)}`
  const isHalf = leastInfinite > HALF_LARGEST && mostFinite <= HALF_LARGEST && mostFinite > HALF_LARGEST / 4
  return isHalf ? `${least} (the float16 maximum is ${HALF_LARGEST})` : least
}

export function constantFindings({ reference, target }: Survey): DiffFinding[] {
  if (target.finite < 2 || target.min !== target.max || target.min === null) return []
  const value = formatNumber(target.min)
  const other =
    reference.min === reference.max
      ? `the reference is ${formatNumber(reference.min ?? Number.NaN)} everywhere`
      : `the reference ranges from ${formatNumber(reference.min ?? Number.NaN)} to ${formatNumber(reference.max ?? Number.NaN)}`
  return [plain('constant', `constant: the target is ${value} everywhere; ${other}`, { value: target.min })]
}

/** Where nearly all of the squared error is, if it is in one part. */
export function placeFindings(
  survey: Survey,
  worst: { error: number; index: readonly number[] } | undefined,
): DiffFinding[] {
  const { sums, axes } = survey
  if (sums.finite < FEWEST || sums.dd === 0) return []
  const single = worst ? worst.error ** 2 / sums.dd : 0
  if (worst && single >= NEARLY_ALL) {
    const text = `one place: the element at [${worst.index.join(', ')}] holds ${percent(Math.min(1, single))} of the squared error`
    return [plain('single-place', text, { index: worst.index, share: single })]
  }
  return axes.flatMap((profile) => {
    const period = findPeriod(profile)
    if (period) return [periodic(profile, period)]
    const found = concentration(profile)
    if (!found) return []
    const text = `one part: ${found.words} of the squared error (evenly spread it would be ${percent(found.even)})`
    return [plain('concentrated', text, { axis: profile.axis, indices: found.indices, share: found.share })]
  })
}

function periodic(
  { axis }: AxisProfile,
  { period, residues, share }: NonNullable<ReturnType<typeof findPeriod>>,
): DiffFinding {
  const isOne = residues.length === 1
  const which = isOne ? `index ${residues[0]}` : `indices ${residues.join(', ')}`
  const text = `periodic: along axis ${axis} the error repeats every ${period}; ${which} of every ${period} ${isOne ? 'holds' : 'hold'} ${percent(share)} of the squared error (tiles or vector lanes?)`
  return plain('periodic', text, { axis, period, residues, share })
}

interface Concentration {
  readonly words: string
  readonly indices: readonly number[]
  readonly share: number
  readonly even: number
}

/** The few indices of an axis that hold nearly all; null if that needs several and more than a quarter of them. */
function concentration({ axis, size, binSize, sums }: AxisProfile): Concentration | null {
  const total = sums.reduce((sum, value) => sum + value, 0)
  if (binSize > 1 || !(total > 0)) return null
  const most = Math.max(1, size / 4)
  const ranked = Array.from(sums.keys()).sort((a, b) => sums[b]! - sums[a]!)
  const indices: number[] = []
  let held = 0
  while (held < NEARLY_ALL * total && indices.length < most) {
    const index = ranked[indices.length]!
    indices.push(index)
    held += sums[index]!
  }
  if (held < NEARLY_ALL * total) return null
  indices.sort((a, b) => a - b)
  const words = indexWords(indices, axis, size)
  if (words === null) return null
  const share = held / total
  return { words: `${words} ${percent(share)}`, indices, share, even: indices.length / size }
}

function indexWords(indices: readonly number[], axis: number, size: number): string | null {
  const [first, last] = [indices[0]!, indices.at(-1)!]
  if (indices.length === 1) return `index ${first} of axis ${axis} holds`
  if (last - first + 1 === indices.length) {
    const end =
      last === size - 1 ? `, its last ${indices.length},` : first === 0 ? `, its first ${indices.length},` : ''
    return `indices ${first} to ${last} of axis ${axis}${end} hold`
  }
  return indices.length <= MOST_LISTED ? `indices ${indices.join(', ')} of axis ${axis} hold` : null
}
