import type { Result } from '../../domain/result.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { StoredRun } from './read-run.ts'

/** A case whose verdict is another one in the second run. */
export interface Transition {
  readonly id: string
  readonly from: Verdict
  readonly to: Verdict
  readonly reason: string | null
  readonly relL2: readonly [number | null, number | null]
}

/** A case whose worst relL2 is another one. */
export interface MovedMetric {
  readonly id: string
  readonly verdict: Verdict
  readonly from: number
  readonly to: number
}

export interface RunsDiff {
  /** Those that got worse first. */
  readonly transitions: readonly Transition[]
  /** By factor, the largest first. */
  readonly moved: readonly MovedMetric[]
  readonly onlyInFirst: readonly string[]
  readonly onlyInSecond: readonly string[]
  /** Cases of both runs with the same verdict. */
  readonly same: number
  /** Ids of which both runs kept the target's tensors. */
  readonly kept: readonly string[]
}

/** Smaller changes are roundings of another machine or another input. */
const LEAST_FACTOR = 1.1

export function diffRuns(first: StoredRun, second: StoredRun): RunsDiff {
  const others = new Map(second.results.map((result) => [result.id, result]))
  const known = new Set(first.results.map(({ id }) => id))
  const both = first.results.flatMap((one) => {
    const other = others.get(one.id)
    return other ? [{ one, other }] : []
  })
  const changed = both.filter(({ one, other }) => one.verdict !== other.verdict)
  return {
    transitions: changed.map(({ one, other }) => transition(one, other)).sort((a, b) => orderOf(a) - orderOf(b)),
    moved: both.flatMap(({ one, other }) => movedMetric(one, other)).sort((a, b) => factorOf(b) - factorOf(a)),
    onlyInFirst: first.results.filter(({ id }) => !others.has(id)).map(({ id }) => id),
    onlyInSecond: second.results.filter(({ id }) => !known.has(id)).map(({ id }) => id),
    same: both.length - changed.length,
    kept: both.filter(({ one, other }) => keepsTarget(one) && keepsTarget(other)).map(({ one }) => one.id),
  }
}

function transition(one: Result, other: Result): Transition {
  const reason = other.reason ?? other.error?.message ?? null
  return { id: one.id, from: one.verdict, to: other.verdict, reason, relL2: [relL2Of(one), relL2Of(other)] }
}

const BAD: readonly Verdict[] = ['fail', 'error', 'xpass']

/** pass → fail, pass → error, other changes for the worse, for the better, the rest. */
function orderOf({ from, to }: Transition): number {
  if (from === 'pass' && to === 'fail') return 0
  if (from === 'pass' && to === 'error') return 1
  if (!BAD.includes(from) && BAD.includes(to)) return 2
  return BAD.includes(from) && !BAD.includes(to) ? 4 : 3
}

function movedMetric(one: Result, other: Result): MovedMetric[] {
  const [from, to] = [relL2Of(one), relL2Of(other)]
  if (from === null || to === null || one.verdict !== other.verdict || from === to) return []
  const moved = { id: one.id, verdict: other.verdict, from, to }
  return factorOf(moved) >= LEAST_FACTOR ? [moved] : []
}

function factorOf({ from, to }: MovedMetric): number {
  const [low, high] = [Math.min(from, to), Math.max(from, to)]
  return low > 0 ? high / low : Number.POSITIVE_INFINITY
}

function relL2Of({ metrics }: Result): number | null {
  return metrics.find(({ name }) => name === 'rel_l2')?.value ?? null
}

function keepsTarget({ artifacts }: Result): boolean {
  return artifacts.some(({ name }) => name === 'target.safetensors')
}
