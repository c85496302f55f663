import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { ExpectedFailure } from '../../domain/expected-failure.ts'
import { formatBytes } from '../../domain/text.ts'
import { readRegularFileSync } from '../../files/disk/regular-file.ts'

const NAMES = ['assay.expected.yaml', 'assay.expected.yml']
const LARGEST_BYTES = 16 * 2 ** 20

/** Where expected failures are read from, and written to where they are accepted. */
export interface ExpectedPlace {
  readonly path: string
  /** As people are told it. */
  readonly shown: string
  /** Somebody named it, so it has to be there. */
  readonly given: boolean
}

/** The file named, else the one beside the configuration, else the one of the current folder. */
export function expectedPlace(given: string | undefined, config: string | null, cwd: string): ExpectedPlace {
  const folders = [...(config === null ? [] : [dirname(config)]), cwd]
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  const path = given === undefined ? (candidates.find(existsSync) ?? candidates[0]!) : resolve(cwd, given)
  const near = relative(cwd, path)
  return { path, shown: near.startsWith('..') ? path : near, given: given !== undefined }
}

/** All entries of the file; none where there is no file and nobody named one. */
export async function readExpected(place: ExpectedPlace, mayBeEmpty: boolean): Promise<readonly ExpectedFailure[]> {
  const text = readExpectedText(place, mayBeEmpty)
  if (text === null) return []
  const { parseExpected } = await import('./expected-file.ts')
  return parseExpected(text, place.shown, mayBeEmpty).entries
}

/** The file's text; null: there is none. */
export function readExpectedText({ path, shown, given }: ExpectedPlace, mayBeMissing: boolean): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) {
    if (!given || mayBeMissing) return null
    throw new UsageError('expected', `no file of expected failures "${shown}"; --accept creates it`)
  }
  if (!found.isFile()) throw new UsageError('expected', `${shown} is no file; --expected takes a YAML file`)
  if (found.size > LARGEST_BYTES) {
    const size = `${formatBytes(found.size)}, more than ${formatBytes(LARGEST_BYTES)}`
    throw new UsageError('expected', `${shown} has ${size}; write globs instead of an entry for every case`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readRegularFileSync(path, LARGEST_BYTES))
  } catch (error) {
    const problem = error instanceof TypeError ? 'it is not UTF-8; save it as such' : String(error)
    throw new UsageError('expected', `cannot read ${shown}: ${problem}`, { cause: error })
  }
}
