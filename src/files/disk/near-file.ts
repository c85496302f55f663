import { existsSync } from 'node:fs'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import { rankSimilar } from '../../domain/suggest.ts'
import { listNames } from './list-names.ts'

/** So many parts of a path are tried, from its end. */
const MOST_PARTS = 16

/** A path that exists and differs from a mistyped one in one part, that part only slightly; null if there is none. */
export function nearFile(path: string, cwd = '.'): string | null {
  let [given, rest] = [normalize(path), '']
  for (let tried = 0; tried < MOST_PARTS && !isEnd(given); tried++) {
    const [folder, name] = [dirname(given), basename(given)]
    const near = nearPart(resolve(cwd, folder), name, rest)
    if (near !== null) return join(folder, near, rest)
    ;[given, rest] = [folder, join(name, rest)]
  }
  return null
}

/** Above it nothing has a name that could be mistyped. */
function isEnd(path: string): boolean {
  return path === dirname(path) || basename(path) === '..'
}

/** The most similar name in a folder below which the rest of the path exists. */
function nearPart(folder: string, name: string, rest: string): string | null {
  const others = listNames(folder).filter((other) => other !== name)
  return rankSimilar(name, others).find((other) => existsSync(join(folder, other, rest))) ?? null
}
