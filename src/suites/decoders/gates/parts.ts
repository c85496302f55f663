import { meanBounds } from '../../../compare/statistics/student-t.ts'
import { formatNumber } from '../../../domain/text.ts'
import { boundSteps } from './contract.ts'
import type { GuardFinding } from './gates.ts'
import { computeLogRatio, type Pair } from './pairs.ts'

/** A part of a batch that a fault could affect alone. */
interface Part {
  /** `in row 3 of the batch` */
  readonly where: string
  readonly ratios: readonly PlacedRatio[]
}

interface PlacedRatio {
  readonly place: number
  readonly logRatio: number
}

/** Fewer sequences have no meaningful spread. */
const LEAST_SEQUENCES = 3
const PADDING_PARTS = 4
/** No healthy part of two sequences is this much worse than the baseline. */
const DOUBTFUL_RATIO = 2

/**
 * The part of the batch that is worst beyond the limit; null: none is. The mean over all sequences hides a fault of
 * some, the more so the better the others are. Chances of a false alarm are shared among all parts.
 */
export function worstPart(pairs: readonly Pair[], limit: number, confidence: number): GuardFinding | null {
  const parts = [...rows(pairs), ...paddings(pairs), ...spans(pairs), worseOnes(pairs)].filter(
    ({ ratios }) => ratios.length >= LEAST_SEQUENCES,
  )
  const each = 1 - (1 - confidence) / parts.length
  const bounded = parts.map((part) => ({
    part,
    ...meanBounds(
      part.ratios.map(({ logRatio }) => logRatio),
      each,
    ),
  }))
  const [worst] = bounded.filter(({ low }) => low > Math.log(limit)).sort((a, b) => b.low - a.low)
  if (!worst) return null
  const { ratios, where } = worst.part
  const { place } = ratios.reduce((most, ratio) => (ratio.logRatio > most.logRatio ? ratio : most))
  const times = `${formatNumber(Math.exp(worst.mean), 3)} times the baseline's error ${where}`
  const bound = `at least ${formatNumber(Math.exp(worst.low), 3)} with ${formatNumber(100 * each, 5)} % confidence`
  const reason = `${times} (${ratios.length} sequences, ${bound}): over ${limit}; sequence ${place}`
  return { kind: 'part', verdict: 'fail', sequence: place, step: null, count: ratios.length, reason }
}

/** What looks like a fault of a part that is too small to be sure of; null: nothing does. */
export function doubtfulPart(pairs: readonly Pair[]): string | null {
  const means = [...rows(pairs), ...paddings(pairs), ...mostPadded(pairs)]
    .filter(({ ratios }) => ratios.length > 1)
    .map(({ where, ratios }) => ({ where, ratios, mean: meanOf(ratios) }))
  const worst = means.reduce((most, part) => (part.mean > most.mean ? part : most), { where: '', ratios: [], mean: 0 })
  if (worst.mean <= Math.log(DOUBTFUL_RATIO)) return null
  const times = formatNumber(Math.exp(worst.mean), 3)
  return `${times} times the baseline's error ${worst.where} (${worst.ratios.length} sequences)`
}

function meanOf(ratios: readonly PlacedRatio[]): number {
  return ratios.reduce((sum, { logRatio }) => sum + logRatio, 0) / ratios.length
}

/** Of a batch with more than one. */
function rows(pairs: readonly Pair[]): Part[] {
  const groups = new Map<number, Pair[]>()
  for (const pair of pairs) {
    const row = pair.sequence.place?.row
    if (row !== undefined) groups.set(row, [...(groups.get(row) ?? []), pair])
  }
  if (groups.size < 2) return []
  return [...groups].map(([row, ratios]) => ({ where: `in row ${row} of the batch`, ratios }))
}

interface PaddedPair {
  readonly pair: Pair
  readonly padded: number
}

function byPadding(pairs: readonly Pair[]): PaddedPair[] {
  const placed = pairs.flatMap((pair) => (pair.sequence.place ? [{ pair, padded: pair.sequence.place.padded }] : []))
  return placed.sort((a, b) => a.padded - b.padded)
}

/** From the least padded to the most, in parts of about the same size; equal paddings stay together. */
function paddings(pairs: readonly Pair[]): Part[] {
  const ordered = byPadding(pairs)
  const ranks = new Map<number, number>()
  for (const [i, { padded }] of ordered.entries()) if (!ranks.has(padded)) ranks.set(padded, i)
  const partOf = (padded: number) => Math.floor((PADDING_PARTS * ranks.get(padded)!) / ordered.length)
  const parts = Array.from({ length: PADDING_PARTS }, (_, part) =>
    ordered.filter(({ padded }) => partOf(padded) === part),
  ).filter((part) => part.length > 0)
  if (parts.length < 2) return []
  return parts.map(paddedPart)
}

/** The most padded sequences, for every start of such a range that enough sequences have. */
function mostPadded(pairs: readonly Pair[]): Part[] {
  const ordered = byPadding(pairs)
  const begins = ordered.flatMap(({ padded }, i) => (i > 0 && padded > ordered[i - 1]!.padded ? [i] : []))
  return begins.filter((i) => ordered.length - i >= LEAST_SEQUENCES).map((i) => paddedPart(ordered.slice(i)))
}

function paddedPart(part: readonly PaddedPair[]): Part {
  return { where: paddedText(part), ratios: part.map(({ pair }) => pair) }
}

function paddedText(part: readonly PaddedPair[]): string {
  const [least, most] = [part[0]!.padded, part.at(-1)!.padded]
  if (most === 0) return 'where nothing is padded'
  return `where ${least === most ? least : `${least} to ${most}`} positions are padded`
}

/** The first token, which comes right after the prompt, then later and later ones. */
function spans(pairs: readonly Pair[]): Part[] {
  const count = Math.max(0, ...pairs.map(({ sequence }) => sequence.spans?.length ?? 0))
  return Array.from({ length: count }, (_, span) => {
    const ratios = pairs.flatMap(({ place, sequence, partner }) => {
      const [target, baseline] = [sequence.spans?.[span], partner.spans?.[span]]
      return target === undefined || baseline === undefined
        ? []
        : [{ place, logRatio: computeLogRatio(target, baseline) }]
    })
    const { from, to } = boundSteps(span)
    return { where: from === to ? `at token ${from}` : `at tokens ${from} to ${to}`, ratios }
  })
}

/** A fault that depends on what the prompt says: those that are better pay for none. */
function worseOnes(pairs: readonly Pair[]): Part {
  const ratios = pairs.map(({ place, logRatio }) => ({ place, logRatio: Math.max(0, logRatio) }))
  return { where: 'where it is not better', ratios }
}
