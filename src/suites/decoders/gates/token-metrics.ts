import { curve } from '../../../compare/kernels/token-sums.ts'
import { refereed } from '../../../compare/logits.ts'
import type { Logits } from '../../../domain/logits.ts'
import type { Side } from '../../../domain/verdict.ts'
import type { Flip, KeptStep, TokenMetrics } from './contract.ts'

/**
 * The least mass of all other tokens: 1 − Σp has rounding errors of about 1e-14, and where the kept ids are the whole
 * vocabulary there is nothing else in it.
 */
const LEAST_TAIL = 1e-12

/** Compares what both sides gave at one step; whatever is not finite decides before any number. */
export function tokenMetrics(reference: KeptStep, target: KeptStep): TokenMetrics {
  const at = logitsAt(reference, target)
  const nonFinite = brokenSide(reference, target, at)
  if (nonFinite !== null) return { ...UNKNOWN, nonFinite }
  // Largest first, so what is masked comes last.
  const masked = reference.top.logits.indexOf(Number.NEGATIVE_INFINITY)
  const count = masked < 0 ? at.length : masked
  const [r, t] = [reference.top.logits.subarray(0, count), at.subarray(0, count)]
  const rank = target.top.ids.indexOf(reference.chosen!) + 1
  const agrees = reference.chosen === target.chosen
  const own = new Set(target.top.ids)
  return {
    ...restricted(r, t),
    ...withTail(r, reference.logSumExp, t, target.logSumExp),
    agrees,
    overlap: reference.top.ids.filter((id) => own.has(id)).length,
    rank: rank === 0 ? null : rank,
    flip: agrees ? null : flipAt(reference, target, at),
    nonFinite: null,
  }
}

const UNKNOWN: TokenMetrics = {
  ce: Number.NaN,
  probMean: Number.NaN,
  probStd: Number.NaN,
  diffMean: Number.NaN,
  kl: Number.NaN,
  klTail: Number.NaN,
  moved: Number.NaN,
  referenceTail: Number.NaN,
  targetTail: Number.NaN,
  logError: Number.NaN,
  agrees: false,
  overlap: 0,
  rank: null,
  flip: null,
  nonFinite: null,
}

function logitsAt(reference: KeptStep, target: KeptStep): Logits {
  const { at } = target
  const { length } = reference.top.ids
  if (length > 0 && at?.length === length && reference.top.logits.length === length) return at
  throw new RangeError(
    `the target has ${at?.length ?? 'no'} logits for ${length} ids of the reference; keep one of each`,
  )
}

/** −Infinity masks tokens; at the same places on both sides it is no fault. */
function brokenSide(reference: KeptStep, target: KeptStep, at: Logits): Side | null {
  const isBroken = ({ nonFinite: { nan, positiveInfinity }, logSumExp, chosen }: KeptStep) =>
    nan > 0 || positiveInfinity > 0 || !Number.isFinite(logSumExp) || chosen === null
  if (isBroken(reference)) return 'reference'
  if (isBroken(target)) return 'target'
  if (target.nonFinite.negativeInfinity > reference.nonFinite.negativeInfinity) return 'target'
  const isLost = reference.top.logits.some((logit, i) => Number.isFinite(logit) && !Number.isFinite(at[i]))
  return isLost ? 'target' : null
}

/** As documented in float32, which also holds those of half precision exactly. */
function restricted(r: Logits, t: Logits): Pick<TokenMetrics, 'ce' | 'kl' | 'probMean' | 'probStd' | 'diffMean'> {
  const { crossEntropy: ce, kl, probMean, probStd, diffMean } = refereed(new Float32Array(r), new Float32Array(t))
  return { ce, kl, probMean, probStd, diffMean }
}

type TailMetrics = Pick<TokenMetrics, 'klTail' | 'moved' | 'referenceTail' | 'targetTail' | 'logError'>

/**
 * Σ q·ln(q/p) as Σ q·(e^x − 1 − x) with x = ln p − ln q, which adds up to the same where both have all their mass in
 * the buckets; no term is negative, so nothing cancels and equal sides give 0.
 */
function withTail(r: Logits, sumR: number, t: Logits, sumT: number): TailMetrics {
  const [referenceTail, targetTail] = [tailOf(r, sumR), tailOf(t, sumT)]
  let klTail = bucketDistance(Math.log(referenceTail), Math.log(targetTail))
  let moved = Math.abs(referenceTail - targetTail)
  let logError = 0
  for (let i = 0; i < r.length; i++) {
    const lnP = r[i]! - sumR
    const lnQ = t[i]! - sumT
    klTail += bucketDistance(lnP, lnQ)
    moved += Math.abs(Math.exp(lnP) - Math.exp(lnQ))
    logError = Math.max(logError, Math.abs(lnP - lnQ))
  }
  return { klTail, moved: moved / 2, referenceTail, targetTail, logError }
}

/** Far apart, nothing is lost by the subtraction, and e^x may overflow. */
function bucketDistance(lnP: number, lnQ: number): number {
  const q = Math.exp(lnQ)
  const x = lnP - lnQ
  return Math.abs(x) > 1 ? Math.exp(lnP) - q * (1 + x) : q * curve(x, Math.expm1(x))
}

function tailOf(logits: Logits, logSumExp: number): number {
  let mass = 0
  for (let i = 0; i < logits.length; i++) mass += Math.exp(logits[i]! - logSumExp)
  return Math.max(1 - mass, LEAST_TAIL)
}

function flipAt({ top }: KeptStep, target: KeptStep, at: Logits): Flip {
  const place = top.ids.indexOf(target.chosen!)
  const other = place < 0 ? Array.from(top.logits).findLast(Number.isFinite)! : top.logits[place]!
  return { referenceGap: top.logits[0]! - other, isBeyond: place < 0, targetGap: target.top.logits[0]! - at[0]! }
}
