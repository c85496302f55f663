import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanText } from '../../domain/text.ts'
import { readText } from '../../files/disk/regular-file.ts'
import { isUlid } from '../../files/disk/ulid.ts'

/** Reading more would make the shell wait. */
const LARGEST_HEADER = 8 * 2 ** 20

interface RunWords {
  readonly ids: readonly string[]
  readonly targets: readonly string[]
}

/** Ids and targets of the last run; none where there was none or it cannot be read, since a shell has no place for errors. */
export async function lastRunWords(cwd: string): Promise<RunWords> {
  try {
    const runs = join(cwd, '.assay/runs')
    const newest = (await readdir(runs)).filter(isUlid).sort().at(-1)
    if (newest === undefined) return { ids: [], targets: [] }
    const path = join(runs, newest, 'run.json')
    const { plan, options } = JSON.parse(await readText(path, LARGEST_HEADER))
    return { ids: harmless(plan?.cases), targets: harmless([options?.reference, options?.target].flat()) }
  } catch {
    return { ids: [], targets: [] }
  }
}

/** Names come from files and may hold anything: what could steer a terminal is not offered. */
function harmless(words: unknown): string[] {
  const texts = Array.isArray(words) ? words.filter((word) => typeof word === 'string') : []
  return texts.filter((text) => text !== '' && cleanText(text, 1000) === text)
}
