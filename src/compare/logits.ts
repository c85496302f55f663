import { kernelName, withLogitKernels } from './kernels/lend.ts'
import type { LogitKernels, LogitRows, RowSums } from './kernels/logits-contract.ts'
import { ScalarLogitKernels } from './kernels/scalar-logits.ts'
import { largestIds } from './largest-ids.ts'

/**
 * How far the distribution q of the target's logits lies from the reference's p. `crossEntropy` is −Σ q·ln p, which is
 * not 0 for equal logits but the entropy of q; `kl` is what it is more than that. `probMean` and `probStd` are mean and
 * sample standard deviation of p/q − 1, `diffMean` is the mean of |p − q|.
 */
export interface LogitDistances {
  readonly crossEntropy: number
  readonly kl: number
  readonly probMean: number
  readonly probStd: number
  readonly diffMean: number
}

/** All metrics of one row of logits. */
export interface LogitsRow {
  /** Over all tokens, and over the reference's `topK` largest ones alone. NaN where a logit is. */
  readonly full: LogitDistances
  readonly top: LogitDistances
  /** Ids of the reference's largest logits, largest first; among equals the lowest id. */
  readonly topIds: readonly number[]
  readonly argMaxReference: number
  readonly argMaxTarget: number
  /** Tokens that are −Infinity on both sides, which are left out. */
  readonly masked: number
  /** Tokens that are NaN or infinite on one side and not masked on both. */
  readonly nonFinite: number
}

const UNKNOWN: LogitDistances = {
  crossEntropy: Number.NaN,
  kl: Number.NaN,
  probMean: Number.NaN,
  probStd: Number.NaN,
  diffMean: Number.NaN,
}

const referee = new ScalarLogitKernels()

/** Compares rows of logits one by one and computes all metrics of each. */
export async function compareLogits(
  rows: Iterable<readonly [reference: Float32Array, target: Float32Array]>,
  topK: number,
): Promise<LogitsRow[]> {
  return withLogitKernels(kernelName(), async (kernels) =>
    Array.from(rows, ([r, t]) => compareRow(kernels, r, t, topK)),
  )
}

export function compareRow(
  kernels: LogitKernels,
  reference: Float32Array,
  target: Float32Array,
  topK: number,
): LogitsRow {
  if (reference.length !== target.length) {
    throw new RangeError(`a row has ${target.length} logits, the reference has ${reference.length}`)
  }
  const place = (rows: LogitRows) => {
    rows.reference.set(reference)
    rows.target.set(target)
  }
  return comparePlacedRow(kernels, reference.length, place, topK)
}

/** `place` copies the row into the kernels' memory, which overwrites it; an odd row is copied again. */
export function comparePlacedRow(
  kernels: LogitKernels,
  size: number,
  place: (rows: LogitRows) => void,
  topK: number,
): LogitsRow {
  const rows = kernels.rows(size)
  place(rows)
  const found = size === 0 ? null : kernels.findPeaks(size)
  if (found === null) return compareOddRow(rows, topK)
  const topIds = largestIds(rows.reference, topK, found.peaks)
  const top = distancesAt(rows, topIds)
  const sums = kernels.addRow(size)
  if (sums === null) {
    place(rows)
    return compareOddRow(rows, topK)
  }
  return {
    full: distances(kernels, size, sums),
    top,
    topIds,
    argMaxReference: found.argMaxReference,
    argMaxTarget: found.argMaxTarget,
    masked: 0,
    nonFinite: 0,
  }
}

/** Handles rows that are not finite or too wide for the kernels, in float64 and without masked tokens. */
function compareOddRow({ reference, target }: LogitRows, topK: number): LogitsRow {
  const { ids, masked, nonFinite } = sortOut(reference, target)
  const finite = (row: Float32Array) => Float32Array.from(ids, (id) => row[id]!)
  const [r, t] = nonFinite === 0 ? [finite(reference), finite(target)] : [reference, target]
  const topIds = largestIds(r, topK)
  const idOf = (place: number) => (nonFinite === 0 ? (ids[place] ?? -1) : place)
  const isJudged = nonFinite === 0 && r.length > 0
  return {
    full: isJudged ? refereed(r, t) : UNKNOWN,
    top: isJudged ? distancesAt({ reference: r, target: t }, topIds) : UNKNOWN,
    topIds: topIds.map(idOf),
    argMaxReference: idOf(largestIds(r, 1)[0] ?? -1),
    argMaxTarget: idOf(largestIds(t, 1)[0] ?? -1),
    masked,
    nonFinite,
  }
}

function sortOut(reference: Float32Array, target: Float32Array) {
  const ids: number[] = []
  let [masked, nonFinite] = [0, 0]
  for (let id = 0; id < reference.length; id++) {
    const [r, t] = [reference[id]!, target[id]!]
    if (Number.isFinite(r) && Number.isFinite(t)) ids.push(id)
    else if (r === Number.NEGATIVE_INFINITY && t === Number.NEGATIVE_INFINITY) masked++
    else nonFinite++
  }
  return { ids, masked, nonFinite }
}

function distancesAt(row: LogitRows, ids: readonly number[]): LogitDistances {
  const { reference, target } = referee.rows(ids.length)
  for (let i = 0; i < ids.length; i++) {
    reference[i] = row.reference[ids[i]!]!
    target[i] = row.target[ids[i]!]!
  }
  return refereedRow(reference, target)
}

/** For at least one finite logit, of the same tokens on both sides. */
export function refereed(reference: Float32Array, target: Float32Array): LogitDistances {
  const rows = referee.rows(reference.length)
  rows.reference.set(reference)
  rows.target.set(target)
  return refereedRow(reference, target)
}

/** For the row in the referee's memory. */
function refereedRow(reference: Float32Array, target: Float32Array): LogitDistances {
  const sums = referee.addRow(reference.length)
  return sums === null ? vastDistances(reference, target) : distances(referee, reference.length, sums)
}

/**
 * With Z = 1 + Σe^y and w = Σe^y·(e^x − 1): p/q = e^x·Z/(Z + w), so that p/q − 1 = scale·(e^x − 1) + constant, and
 * |p − q| = q·|p/q − 1|: nothing that is nearly equal is subtracted.
 */
function distances(kernels: LogitKernels, size: number, sums: RowSums): LogitDistances {
  const { weight, weightTarget, weightDifference, weightCurve, ratio, ratioSquared } = sums
  const more = weightDifference + weightCurve
  const z = 1 + weight
  const scale = z / (z + more)
  const constant = -more / (z + more)
  const growth = more / z
  return {
    crossEntropy: Math.log1p(weight + more) - (weightTarget + weightDifference) / z,
    kl: log1pLess(growth) + weightCurve / z,
    probMean: (ratio / size) * scale + constant,
    probStd: scale * Math.sqrt(Math.max(0, ratioSquared - (ratio * ratio) / size) / (size - 1)),
    diffMean: (kernels.addDistances(size, scale, constant) + Math.abs(constant)) / z / size,
  }
}

/** Uses the plain definitions, for logits so far apart that e^x may overflow. */
function vastDistances(reference: Float32Array, target: Float32Array): LogitDistances {
  const [lnP, lnQ] = [logSoftmax(reference), logSoftmax(target)]
  const size = reference.length
  let [crossEntropy, entropy, ratio, difference] = [0, 0, 0, 0]
  for (let i = 0; i < size; i++) {
    const q = Math.exp(lnQ[i]!)
    if (q > 0) crossEntropy -= q * lnP[i]!
    if (q > 0) entropy -= q * lnQ[i]!
    ratio += Math.exp(lnP[i]! - lnQ[i]!)
    difference += Math.abs(Math.exp(lnP[i]!) - q)
  }
  const mean = ratio / size
  const squares = lnP.reduce((sum, value, i) => sum + (Math.exp(value - lnQ[i]!) - mean) ** 2, 0)
  return {
    crossEntropy,
    kl: crossEntropy - entropy,
    probMean: mean - 1,
    probStd: Number.isNaN(squares) ? Number.POSITIVE_INFINITY : Math.sqrt(squares / (size - 1)),
    diffMean: difference / size,
  }
}

function logSoftmax(row: Float32Array): Float64Array {
  const most = row.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const sum = row.reduce((total, value) => total + Math.exp(value - most), 0)
  return Float64Array.from(row, (value) => value - most - Math.log(sum))
}

/** ln(1 + u) − u; near 0 by its series, where the subtraction would leave few digits. */
function log1pLess(u: number): number {
  if (Math.abs(u) > 0.01) return Math.log1p(u) - u
  let sum = 0
  for (let n = 9; n >= 2; n--) sum = (n % 2 === 0 ? -1 : 1) / n + u * sum
  return sum * u * u
}
