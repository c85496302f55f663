import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { Result } from '../../domain/result.ts'
import { suggestWord } from '../../domain/suggest.ts'
import { listRuns, readHeader, readRun, type StoredRun } from './read-run.ts'
import { HEADER_FILE } from './record.ts'

const SHORTEST_PREFIX = 4
const SUGGESTED = 5

interface RunPlaces {
  /** Where paths begin. */
  readonly cwd: string
  readonly runsFolder: string
}

/** The run that a word names: a folder, `last`, `last~1`, a ULID or the beginning of one; null if it names none. */
export async function findRun(word: string, { cwd, runsFolder }: RunPlaces): Promise<StoredRun | null> {
  const path = resolve(cwd, word)
  if (existsSync(join(path, HEADER_FILE))) return readRun(path)
  const back = /^last(?:~(\d+))?$/.exec(word)
  if (back) return readRun(await runBefore(Number(back[1] ?? 0), runsFolder))
  const folder = await runByPrefix(word, runsFolder)
  return folder === null ? null : readRun(folder)
}

async function runBefore(steps: number, runsFolder: string): Promise<string> {
  const runs = await listRuns(runsFolder)
  const found = runs.at(-1 - steps)
  if (found && steps < runs.length) return found
  const there = runs.length === 0 ? 'there is none' : `there ${runs.length === 1 ? 'is' : 'are'} ${runs.length}`
  throw new UsageError('run', `there is no run that many back: ${there}; assay test makes them`)
}

async function runByPrefix(word: string, runsFolder: string): Promise<string | null> {
  const wanted = word.toUpperCase()
  if (wanted.length < SHORTEST_PREFIX || !/^[0-7][0-9A-HJKMNP-TV-Z]*$/.test(wanted)) return null
  const found = (await listRuns(runsFolder)).filter((folder) => basename(folder).startsWith(wanted))
  if (found.length > 1) {
    const ids = found.slice(0, SUGGESTED).map((folder) => basename(folder))
    throw new UsageError('run', `${found.length} runs begin with "${word}": ${ids.join(', ')}; give more of the id`)
  }
  return found[0] ?? null
}

/** The last run that judged a case with this in its id, or else the last that judged any. */
export async function lastRunWith(word: string, runsFolder: string): Promise<StoredRun | null> {
  const folded = word.toLowerCase()
  let last: StoredRun | null = null
  for (const folder of (await listRuns(runsFolder)).reverse()) {
    const { selected } = (await readHeader(folder)).plan
    const isLikely = selected.some((id) => id.toLowerCase().includes(folded))
    if (!isLikely && (last || selected.length === 0)) continue
    const run = await readRun(folder)
    if (isLikely && findCase(run, word)) return run
    if (run.results.length > 0) last ??= run
  }
  return last
}

/** The case whose id a word is, or is a part of; null if there is none. */
export function findCase({ results, header }: StoredRun, word: string): Result | null {
  const exact = results.find(({ id }) => id === word)
  if (exact) return exact
  const folded = word.toLowerCase()
  const found = results.filter(({ id }) => id.toLowerCase().includes(folded))
  if (found.length <= 1) return found[0] ?? null
  const judged = found.filter(({ artifacts }) => artifacts.length > 0)
  if (judged.length === 1) return judged[0]!
  throw new UsageError(
    'case',
    `"${word}" is in ${found.length} ids of run ${header.id}: ${listed(found)}; give more of the id`,
  )
}

function listed(results: readonly Result[]): string {
  const more = results.length > SUGGESTED ? ` and ${results.length - SUGGESTED} more` : ''
  return `${results
    .slice(0, SUGGESTED)
    .map(({ id }) => id)
    .join(', ')}${more}`
}

/** What to say of a word that is no case of a run. */
export function unknownCase({ results, header }: StoredRun, word: string): string {
  const failed = results.filter(({ artifacts }) => artifacts.length > 0)
  const some = failed.length > 0 ? failed : results
  const ids = results.map(({ id }) => id)
  return `no case of run ${header.id} has it in its id; ${suggestWord(word, ids, `there are ${listed(some)}`)}`
}
