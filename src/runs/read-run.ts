import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FormatError, UsageError } from '../domain/errors.ts'
import type { Result } from '../domain/result.ts'
import { RUN_SCHEMA, type RunHeader } from '../domain/run.ts'
import { isMissing } from './disk-errors.ts'
import { livenessOf } from './process-identity.ts'
import { HEADER_FILE, RESULTS_FILE } from './record.ts'
import { decodeResult } from './result-json.ts'
import { isUlid } from './ulid.ts'

export interface StoredRun {
  readonly folder: string
  readonly header: RunHeader
  /** In plan order. */
  readonly results: readonly Result[]
  /** Every selected case has its result and the run came to its own end. */
  readonly complete: boolean
  /** Why it is not complete. */
  readonly why?: string
}

/** Reads a record, also of a run that is still going or was killed. */
export async function readRun(folder: string): Promise<StoredRun> {
  const header = await readHeader(folder)
  const results = inPlanOrder(await readResults(folder), header, folder)
  const why = whyIncomplete(header, results.length)
  return { folder, header, results, complete: why === null, ...(why !== null && { why }) }
}

export async function readHeader(folder: string): Promise<RunHeader> {
  const path = join(folder, HEADER_FILE)
  let header: RunHeader
  try {
    header = JSON.parse(await readFile(path, 'utf8')) as RunHeader
  } catch (error) {
    if (isMissing(error))
      throw new UsageError('run', `no run record in ${folder}: it has no ${HEADER_FILE}`, { cause: error })
    if (error instanceof SyntaxError)
      throw new FormatError('run', `${path} is no JSON; the record is damaged`, { cause: error })
    throw error
  }
  checkHeader(header, path)
  return header
}

const STATES = ['running', 'complete', 'interrupted', 'failed']

function checkHeader(header: RunHeader, path: string): void {
  const schema = (header as Partial<RunHeader> | null)?.schema
  if (schema !== RUN_SCHEMA) {
    const found = JSON.stringify(schema ?? null)
    throw new FormatError(
      'schema',
      `${path} has schema ${found}, this version reads "${RUN_SCHEMA}"; use the version that wrote it`,
    )
  }
  const isWhole =
    typeof header.id === 'string' &&
    STATES.includes(header.state) &&
    typeof header.plan?.digest === 'string' &&
    Array.isArray(header.plan.cases) &&
    Array.isArray(header.plan.selected) &&
    typeof header.environment === 'object' &&
    !Number.isNaN(Date.parse(header.startedAt) + Date.parse(header.heartbeatAt))
  if (!isWhole) throw new FormatError('run', `${path} lacks parts of a run's header; the record is damaged`)
}

async function readResults(folder: string): Promise<Result[]> {
  const path = join(folder, RESULTS_FILE)
  const results: Result[] = []
  try {
    for await (const line of wholeLines(path)) results.push(decodeResult(line, `${path} line ${results.length + 1}`))
  } catch (error) {
    if (isMissing(error))
      throw new FormatError('results', `there is no ${path}; the record is damaged`, { cause: error })
    throw error
  }
  return results
}

/** Lines that end; a torn last one is left out. */
async function* wholeLines(path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

function inPlanOrder(results: Result[], header: RunHeader, folder: string): Result[] {
  const places = new Map(header.plan.selected.map((id, i) => [id, i]))
  const seen = new Set<string>()
  for (const { id } of results) {
    const problem = seen.has(id) ? 'two results' : places.has(id) ? null : 'a result that its plan does not list,'
    if (problem) throw new FormatError('results', `the record ${folder} has ${problem} for ${id}; it is damaged`)
    seen.add(id)
  }
  return results.sort((a, b) => places.get(a.id)! - places.get(b.id)!)
}

function whyIncomplete(header: RunHeader, judged: number): string | null {
  const share = `${judged} of ${header.plan.selected.length} cases judged`
  if (header.state === 'running') return `${sinceWhenSilent(header)}; ${share}`
  if (header.state === 'interrupted') return `it was interrupted; ${share}`
  if (header.state === 'failed') return `it failed: ${header.problem ?? 'no reason was recorded'}; ${share}`
  return judged === header.plan.selected.length ? null : (header.problem ?? share)
}

function sinceWhenSilent(header: RunHeader): string {
  const liveness = livenessOf(header.pid, header.bootId, Date.parse(header.startedAt))
  if (liveness === 'alive') return `it is still running (process ${header.pid})`
  const lastSign = `last sign of life ${header.heartbeatAt}`
  if (liveness === 'dead') return `its process ${header.pid} ended without finishing the record (${lastSign})`
  return `it runs or ran on another machine, in another container or before a restart (${lastSign})`
}

/** Folders of all runs, oldest first. */
export async function listRuns(runsFolder: string): Promise<string[]> {
  try {
    const names = (await readdir(runsFolder)).filter(isUlid)
    return names.sort().map((name) => join(runsFolder, name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** The folder of the newest run; null: there is none. */
export async function latestRun(runsFolder: string): Promise<string | null> {
  return (await listRuns(runsFolder)).at(-1) ?? null
}
