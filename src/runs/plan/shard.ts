import { UsageError } from '../../domain/errors.ts'
import { MOST_SHARDS, type Shard } from '../../domain/run.ts'
import type { Case } from '../contract.ts'
import { affinityGroups } from './affinity-groups.ts'
import type { Durations } from './durations.ts'

/** `i/n`, counted from 1. */
export function parseShard(text: string): Shard {
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(text.trim())
  const shard = { index: Number(match?.[1]), count: Number(match?.[2]) }
  if (!match || shard.index < 1 || shard.index > shard.count || shard.count > MOST_SHARDS) {
    const expected = `i/n with 1 ≤ i ≤ n ≤ ${MOST_SHARDS}, such as 2/5`
    throw new UsageError('shard', `--shard ${JSON.stringify(text)}: expected ${expected}`)
  }
  return shard
}

/** The cases of one shard, in plan order. Depends on the arguments only, so every machine splits alike. */
export function shardCases<C extends Case>(cases: readonly C[], shard: Shard, durations: Durations = new Map()): C[] {
  const costOf = costs(cases, durations)
  const groups = affinityGroups(cases).map((members) => ({ members, cost: sum(members.map(costOf)) }))
  groups.sort((a, b) => b.cost - a.cost || compareText(a.members[0]!.id, b.members[0]!.id))
  const loads = Array.from({ length: shard.count }, () => ({ cost: 0, count: 0, ids: new Set<string>() }))
  for (const { members, cost } of groups) {
    const least = loads.reduce((best, load) => (isLighter(load, best) ? load : best))
    least.cost += cost
    least.count += members.length
    for (const member of members) least.ids.add(member.id)
  }
  const mine = loads[shard.index - 1]!.ids
  return cases.filter((c) => mine.has(c.id))
}

function isLighter(a: { cost: number; count: number }, b: { cost: number; count: number }): boolean {
  return a.cost < b.cost || (a.cost === b.cost && a.count < b.count)
}

/** Measured, else estimated, else as much as a measured case on average: 1 where nothing was measured. */
function costs(cases: readonly Case[], durations: Durations): (c: Case) => number {
  const measured = cases.flatMap((c) => durations.get(c.id) ?? [])
  const usual = measured.length > 0 ? sum(measured) / measured.length : 1
  return (c) => durations.get(c.id) ?? c.estimateMs ?? usual
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
