import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { type Environment, setVariables } from '../../domain/environment.ts'

const FILE = 'id'

/** A random text that only this user of this machine can know; null: there is none yet. */
export function readUserSecret(environment: Environment): string | null {
  for (const place of placesOf(environment)) {
    const secret = secretIn(place)
    if (secret !== null) return secret
  }
  return null
}

/** The same, made where there is none; null: there is no place for it. */
export function makeUserSecret(environment: Environment): string | null {
  const known = readUserSecret(environment)
  if (known !== null) return known
  for (const place of placesOf(environment)) {
    const secret = makeIn(place)
    if (secret !== null) return secret
  }
  return null
}

/** Where a user's programs keep what is theirs; without a home that can be written, the temporary folder. */
function placesOf(environment: Environment): string[] {
  const { XDG_STATE_HOME = '', HOME = homeOfAccount(), TMPDIR = tmpdir() } = setVariables(environment)
  const state = isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(HOME, '.local', 'state')
  const temporary = join(TMPDIR, `assay-state-${process.getuid?.() ?? 'user'}`)
  return isAbsolute(state) ? [join(state, 'assay'), temporary] : [temporary]
}

/** Nothing for a number of a user that no account has, as in containers. */
function homeOfAccount(): string {
  try {
    return userInfo().homedir
  } catch {
    return ''
  }
}

/** What somebody else could have put there does not count. */
function secretIn(place: string): string | null {
  const path = join(place, FILE)
  try {
    if (!isOnlyOurs(place) || !isOnlyOurs(path)) return null
    const text = readFileSync(path, 'utf8').trim()
    return /^[0-9a-f]{64}$/.test(text) ? text : null
  } catch {
    return null
  }
}

function makeIn(place: string): string | null {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 })
    if (!isOnlyOurs(place)) return null
    writeFileSync(join(place, FILE), `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 })
  } catch {
    // Another process of this user may have been faster; a place that cannot be written has none.
  }
  return secretIn(place)
}

function isOnlyOurs(path: string): boolean {
  const { uid, mode } = lstatSync(path)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}
