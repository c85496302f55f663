import { findEntry } from '../../domain/entry.ts'
import { UsageError } from '../../domain/errors.ts'
import type { StaleEntry } from '../../domain/expected-failure.ts'
import type { Result } from '../../domain/result.ts'
import type { RunHeader, RunState } from '../../domain/run.ts'
import { shortenMiddle } from '../../domain/text.ts'
import { EXIT, type ExitOptions } from '../../domain/verdict.ts'
import { describeError } from '../execute/blame.ts'
import { copyArtifact } from './artifacts.ts'
import { readRun, type StoredRun } from './read-run.ts'
import { type NewRun, type RunEnd, RunRecord } from './record.ts'
import { summarise } from './summary.ts'

interface MergeOptions {
  /** Merge although shards or results are missing; the record says which. */
  readonly allowMissing?: boolean
}

export interface MergedRun {
  readonly folder: string
  readonly header: RunHeader
  readonly results: readonly Result[]
  /** What differs between the shards or is missing, in words. */
  readonly notes: readonly string[]
}

type ShardRun = StoredRun & { readonly shardIndex: number; readonly shardCount: number }

/** Makes one record, in a new folder under `runsFolder`, of the records of all shards of one plan. */
export async function mergeRuns(
  folders: readonly string[],
  runsFolder: string,
  options: MergeOptions = {},
): Promise<MergedRun> {
  const shards = (await readShards(folders)).sort((a, b) => a.shardIndex - b.shardIndex)
  refuseDifferentPlans(shards)
  refuseOverlap(shards)
  const missing = whatIsMissing(shards)
  if (missing.length > 0 && !options.allowMissing) {
    throw new UsageError('merge', `${missing.join('; ')}. Give all shards, or merge what is there with --allow-missing`)
  }
  return writeMerged(shards, runsFolder, missing)
}

async function readShards(folders: readonly string[]): Promise<ShardRun[]> {
  if (folders.length === 0) throw new UsageError('merge', 'no run to merge; give the folders of all shards')
  const runs: ShardRun[] = []
  for (const folder of folders) {
    const run = await readRun(folder)
    const { shard } = run.header
    if (!shard)
      throw new UsageError('merge', `${folder} is no shard: it was run without --shard, so there is nothing to merge`)
    runs.push({ ...run, shardIndex: shard.index, shardCount: shard.count })
  }
  return runs
}

function refuseDifferentPlans(shards: readonly ShardRun[]): void {
  const first = shards[0]!
  for (const shard of shards.slice(1)) {
    if (shard.header.plan.digest !== first.header.plan.digest) {
      throw new UsageError(
        'merge',
        `${shard.folder} has another plan than ${first.folder}: ${planDifference(first, shard)}`,
      )
    }
    if (shard.shardCount !== first.shardCount) {
      const counts = `${shard.shardIndex}/${shard.shardCount} and ${first.shardIndex}/${first.shardCount}`
      throw new UsageError(
        'merge',
        `${shard.folder} and ${first.folder} are shards ${counts}; all must have the same count`,
      )
    }
  }
}

function planDifference(a: StoredRun, b: StoredRun): string {
  const [inA, inB] = [new Set(a.header.plan.cases), new Set(b.header.plan.cases)]
  const only = [...inA].find((id) => !inB.has(id)) ?? [...inB].find((id) => !inA.has(id))
  if (only !== undefined)
    return `only one of them has the case ${only}; run all shards on the same models and selection`
  return 'same cases, but models or options differ; run all shards with the same ones'
}

function refuseOverlap(shards: readonly ShardRun[]): void {
  const owner = new Map<string, ShardRun>()
  for (const [i, shard] of shards.entries()) {
    const before = shards[i - 1]
    if (before?.shardIndex === shard.shardIndex) {
      throw new UsageError(
        'merge',
        `${before.folder} and ${shard.folder} are both shard ${nameOf(shard)}; give each shard once`,
      )
    }
    for (const id of shard.header.plan.selected) {
      const other = owner.get(id)
      if (other) {
        const both = `shards ${nameOf(other)} and ${nameOf(shard)} both have the case ${id}`
        throw new UsageError('merge', `${both}; run all shards with the same --durations file`)
      }
      owner.set(id, shard)
    }
  }
}

function whatIsMissing(shards: readonly ShardRun[]): string[] {
  const { shardCount } = shards[0]!
  const present = new Set(shards.map((shard) => shard.shardIndex))
  const absent = Array.from({ length: shardCount }, (_, i) => i + 1).filter((index) => !present.has(index))
  const problems = absent.map((index) => `shard ${index}/${shardCount} is missing`)
  for (const shard of shards) {
    if (!shard.complete) problems.push(`shard ${nameOf(shard)} is not complete: ${shard.why}`)
  }
  return absent.length > 0 ? problems : [...problems, ...unassignedCases(shards)]
}

function unassignedCases(shards: readonly ShardRun[]): string[] {
  const selected = new Set(shards.flatMap((shard) => shard.header.plan.selected))
  const left = shards[0]!.header.plan.cases.filter((id) => !selected.has(id))
  return left.length > 0 ? [`${left.length} cases are in no shard, such as ${left[0]}`] : []
}

async function writeMerged(
  shards: readonly ShardRun[],
  runsFolder: string,
  missing: readonly string[],
): Promise<MergedRun> {
  const { environment, notes } = mergeEnvironments(shards)
  const record = await RunRecord.create(runsFolder, mergedRun(shards, environment))
  try {
    for (const shard of shards) await copyArtifacts(shard, record.folder)
    const results = inOrder(shards)
    for (const result of results) record.append(result)
    const header = await record.finish(mergedEnd(shards, results, missing))
    return { folder: record.folder, header, results, notes: [...missing, ...notes] }
  } catch (error) {
    await record.finish({ state: 'failed', summary: null, problem: `merging failed: ${describeError(error)}` })
    throw error
  }
}

function mergedRun(shards: readonly ShardRun[], environment: Record<string, string>): NewRun {
  const { plan, options } = shards[0]!.header
  const mergedFrom = shards.map((shard) => `${nameOf(shard)} ${shard.header.id}`)
  return { shard: null, environment, options: { ...options, mergedFrom }, plan: { ...plan, selected: plan.cases } }
}

function mergedEnd(shards: readonly ShardRun[], results: readonly Result[], missing: readonly string[]): RunEnd {
  const state = mergedState(shards)
  const exit = { ...exitOptions(shards), interrupted: state === 'interrupted' }
  const summary = summarise(results, spanMs(shards), exit, staleEntries(shards))
  return {
    state,
    summary: state === 'failed' ? { ...summary, exitCode: EXIT.internal } : summary,
    ...(missing.length > 0 && { problem: missing.join('; ') }),
  }
}

/** As strict as the strictest shard. */
function exitOptions(shards: readonly ShardRun[]): ExitOptions {
  const options = shards.map((shard) => shard.header.options)
  return {
    strict: options.some(({ strict }) => strict === true),
    passWithNoTests: options.every(({ passWithNoTests }) => passWithNoTests === true),
  }
}

/** Every shard looks at the whole plan, so all that came to their end say the same. */
function staleEntries(shards: readonly ShardRun[]): readonly StaleEntry[] {
  return shards.find(({ header }) => header.summary !== null)?.header.summary?.stale ?? []
}

function inOrder(shards: readonly ShardRun[]): Result[] {
  const byId = new Map(shards.flatMap((shard) => shard.results.map((result) => [result.id, result])))
  return shards[0]!.header.plan.cases.flatMap((id) => byId.get(id) ?? [])
}

async function copyArtifacts(shard: ShardRun, folder: string): Promise<void> {
  const artifacts = new Map(shard.results.flatMap((result) => result.artifacts.map((kept) => [kept.path, kept])))
  for (const artifact of artifacts.values()) await copyArtifact(artifact, shard.folder, folder)
}

function mergedState(shards: readonly ShardRun[]): RunState {
  const states = new Set(shards.map((shard) => shard.header.state))
  if (states.has('failed') || states.has('running')) return 'failed'
  return states.has('interrupted') ? 'interrupted' : 'complete'
}

/** From the first beginning to the last end: shards ran beside each other. */
function spanMs(shards: readonly ShardRun[]): number {
  const starts = shards.map(({ header }) => Date.parse(header.startedAt))
  const ends = shards.map(({ header }) => Date.parse(header.heartbeatAt))
  return Math.max(...ends) - Math.min(...starts)
}

/** Of many shards on as many machines some are enough. */
const LONGEST_DIFFERENCE = 2000

function mergeEnvironments(shards: readonly ShardRun[]): { environment: Record<string, string>; notes: string[] } {
  const keys = new Set(shards.flatMap(({ header }) => Object.keys(header.environment)))
  const notes: string[] = []
  const pairs = [...keys].map((key): [string, string] => {
    const values = new Map<string, string[]>()
    for (const shard of shards) {
      const value = findEntry(shard.header.environment, key) ?? '(none)'
      values.set(value, [...(values.get(value) ?? []), nameOf(shard)])
    }
    if (values.size === 1) return [key, [...values.keys()][0]!]
    const each = [...values].map(([value, names]) => `${value} (shard ${names.join(', ')})`)
    const text = shortenMiddle(each.join('; '), LONGEST_DIFFERENCE)
    notes.push(`the shards ran in different environments: ${key} = ${text}`)
    return [key, text]
  })
  return { environment: Object.fromEntries(pairs), notes }
}

function nameOf(shard: ShardRun): string {
  return `${shard.shardIndex}/${shard.shardCount}`
}
