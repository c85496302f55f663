import { UsageError } from '../../domain/errors.ts'
import type { RunHeader, Shard } from '../../domain/run.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import type { Case, Suite } from '../contract.ts'
import type { Durations } from './durations.ts'
import { type CaseSelection, selectCases } from './select.ts'
import { shardCases } from './shard.ts'

export interface PlanRequest {
  readonly suites: readonly Suite[]
  readonly select?: CaseSelection
  /** The ids of some of these, such as those that failed last time; null: all of them. */
  readonly narrow?: (cases: readonly Case[]) => Promise<ReadonlySet<string> | null>
  readonly shard?: Shard | null
  readonly durations?: Durations
  /** Plain data that all shards of a run must share: seed, tolerances, inputs … */
  readonly sameForAllShards?: unknown
}

export interface PlannedWork {
  readonly c: Case
  readonly suite: Suite
}

export interface Plan {
  /** Ids of all cases, before any selection. */
  readonly collected: readonly string[]
  readonly header: RunHeader['plan']
  /** What this invocation judges, in plan order. */
  readonly work: readonly PlannedWork[]
}

/** Collects, checks, sorts, selects and shards; judges nothing. */
export async function planRun(request: PlanRequest): Promise<Plan> {
  const suiteOf = await collect(request.suites)
  const all = [...suiteOf.keys()].sort(inPlanOrder)
  const selected = selectCases(all, request.select ?? {})
  const kept = (await request.narrow?.(selected)) ?? null
  const cases = kept ? selected.filter((c) => kept.has(c.id)) : selected
  const mine = request.shard ? shardCases(cases, request.shard, request.durations) : cases
  const header = {
    digest: computeDigest({ cases: cases.map(identityOf), options: request.sameForAllShards ?? null }),
    cases: cases.map((c) => c.id),
    selected: mine.map((c) => c.id),
  }
  return { collected: all.map((c) => c.id), header, work: mine.map((c) => ({ c, suite: suiteOf.get(c)! })) }
}

/** By id, but parts of a model after its wholes, whole by whole, as they follow each other in it. */
function inPlanOrder(a: Case, b: Case): number {
  return (
    inTextOrder(`${a.model}/`, `${b.model}/`) ||
    inTextOrder(a.part?.of ?? '', b.part?.of ?? '') ||
    (a.part?.place ?? -1) - (b.part?.place ?? -1) ||
    (a.place ?? -1) - (b.place ?? -1) ||
    inTextOrder(a.id, b.id)
  )
}

function inTextOrder(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

async function collect(suites: readonly Suite[]): Promise<Map<Case, Suite>> {
  const suiteOf = new Map<Case, Suite>()
  const byId = new Map<string, Case>()
  for (const suite of suites) {
    for await (const c of suite.collect()) {
      const twin = byId.get(c.id)
      if (twin)
        throw new UsageError(
          'id',
          `two cases have the id "${c.id}": ${describe(twin)} and ${describe(c)}; ids must differ, name the models one by one`,
        )
      byId.set(c.id, c)
      suiteOf.set(c, suite)
    }
  }
  return suiteOf
}

function describe(c: Case): string {
  return `model ${c.model}, ${c.scope}, target ${c.target} of suite ${c.suite}`
}

function identityOf(c: Case): unknown {
  const { id, suite, model, scope, reference, target, affinity, content = null } = c
  return { id, suite, model, scope, reference, target, affinity, content }
}
