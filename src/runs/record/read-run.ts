import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FormatError, UsageError } from '../../domain/errors.ts'
import type { Result } from '../../domain/result.ts'
import type { RunHeader } from '../../domain/run.ts'
import { formatBytes } from '../../domain/text.ts'
import { checkLiveness } from '../../files/disk/process-identity.ts'
import { fileChunks, readText } from '../../files/disk/regular-file.ts'
import { isUlid } from '../../files/disk/ulid.ts'
import { isMissing } from '../disk-errors.ts'
import { HEADER_FILE, RESULTS_FILE } from './record.ts'

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
  const results = await readResults(folder, header)
  const why = whyIncomplete(header, results.length)
  return { folder, header, results, complete: why === null, ...(why !== null && { why }) }
}

/** Loaded where a record is read, since no other command needs it. */
const schema = () => import('./record-schema.ts')

export async function readHeader(folder: string): Promise<RunHeader> {
  const path = join(folder, HEADER_FILE)
  let raw: unknown
  try {
    raw = JSON.parse(await readText(path))
  } catch (error) {
    if (isMissing(error))
      throw new UsageError('run', `no run record in ${folder}: it has no ${HEADER_FILE}`, { cause: error })
    if (error instanceof SyntaxError)
      throw new FormatError('run', `${path} is no JSON; the record is damaged`, { cause: error })
    throw error
  }
  return (await schema()).decodeHeader(raw, path)
}

/** In plan order; one for each case of the plan at most. */
async function readResults(folder: string, { plan }: RunHeader): Promise<Result[]> {
  const path = join(folder, RESULTS_FILE)
  const { decodeResult } = await schema()
  const places = new Map(plan.selected.map((id, i) => [id, i]))
  const results = new Map<string, Result>()
  try {
    for await (const line of wholeLines(path)) {
      const result = decodeResult(line, `${path} line ${results.size + 1}`)
      const { id } = result
      const problem = results.has(id) ? 'two results' : places.has(id) ? null : 'a result that its plan does not list,'
      if (problem) throw new FormatError('results', `the record ${folder} has ${problem} for ${id}; it is damaged`)
      results.set(id, result)
    }
  } catch (error) {
    if (isMissing(error))
      throw new FormatError('results', `there is no ${path}; the record is damaged`, { cause: error })
    throw error
  }
  return [...results.values()].sort((a, b) => places.get(a.id)! - places.get(b.id)!)
}

const LINE_END = 0x0a
const LARGEST_LINE_BYTES = 2 ** 24

/** Lines that end; a torn last one is left out. */
async function* wholeLines(path: string): AsyncGenerator<string> {
  let [begun, begunBytes, number] = [[] as Uint8Array[], 0, 1]
  for await (const chunk of fileChunks(path)) {
    let from = 0
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]).toString('utf8')
      ;[begun, begunBytes, from] = [[], 0, end + 1]
      number++
    }
    begun.push(chunk.subarray(from))
    begunBytes += chunk.length - from
    if (begunBytes > LARGEST_LINE_BYTES) {
      const found = `${path} line ${number} is longer than ${formatBytes(LARGEST_LINE_BYTES)}`
      throw new FormatError('results', `${found}; the record is damaged`)
    }
  }
}

function whyIncomplete(header: RunHeader, judged: number): string | null {
  const share = `${judged} of ${header.plan.selected.length} cases judged`
  if (header.state === 'running') return `${sinceWhenSilent(header)}; ${share}`
  if (header.state === 'interrupted') return `it was interrupted; ${share}`
  if (header.state === 'failed') return `it failed: ${header.problem ?? 'no reason was recorded'}; ${share}`
  return judged === header.plan.selected.length ? null : (header.problem ?? share)
}

function sinceWhenSilent(header: RunHeader): string {
  const liveness = checkLiveness(header, Date.parse(header.startedAt))
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
