import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'
import { isUnreadable } from './unreadable.ts'

/** Tells which `/`-separated paths match a glob. */
export interface Glob {
  test(path: string): boolean
}

/** For each place of a path: whether the rest of the glob fits from there on. */
type Fits = Uint8Array

/** One token of a glob: from where the rest fits behind it to where the rest fits with it. */
type Token = (path: string, behind: Fits) => Fits

const TOKEN = /\*\*\/|\*\*|\*|\?|\[[^\]]+\]|[^*?[{]+|./sy

/**
 * Reads `*`, `**`, `?`, `[…]` and `{a,b}`. No regular expression of the whole glob: with many stars that would try more
 * ways than there is time for.
 */
export function compileGlob(glob: string): Glob {
  refuseDeepBraces(glob)
  const whole = sequence(glob)
  return {
    test: (path) => {
      const end: Fits = new Uint8Array(path.length + 1)
      end[path.length] = 1
      return whole(path, end)[0] === 1
    },
  }
}

const DEEPEST_BRACES = 20

/** Each level is a recursive call. */
function refuseDeepBraces(glob: string): void {
  let depth = 0
  for (const character of glob) {
    if (character === '{') depth++
    if (character === '}') depth--
    if (depth <= DEEPEST_BRACES) continue
    const what = `the glob ${JSON.stringify(cleanText(glob, 200))} has braces in braces`
    throw new UsageError('glob', `${what}, more than ${DEEPEST_BRACES} deep`)
  }
}

/** The tokens of a glob, or of one choice in its braces. */
function sequence(glob: string): Token {
  const tokens: Token[] = []
  for (let at = 0; at < glob.length; ) {
    const end = glob[at] === '{' ? closingBrace(glob, at) : -1
    const token = end < 0 ? nextToken(glob, at) : glob.slice(at, end + 1)
    tokens.push(end < 0 ? tokenOf(token, glob) : choice(choicesIn(token)))
    at += token.length
  }
  return (path, behind) => tokens.reduceRight((fits, token) => token(path, fits), behind)
}

function nextToken(glob: string, at: number): string {
  TOKEN.lastIndex = at
  return TOKEN.exec(glob)![0]
}

/** Where a brace ends; -1 if it does not end or is empty. */
function closingBrace(glob: string, at: number): number {
  let depth = 0
  for (let i = at; i < glob.length; i++) {
    if (glob[i] === '{') depth++
    if (glob[i] === '}' && --depth === 0) return i > at + 1 ? i : -1
  }
  return -1
}

/** What stands between the commas of `{a,{b,c}*}`. */
function choicesIn(braces: string): string[] {
  const choices = ['']
  let depth = 0
  for (const character of braces.slice(1, -1)) {
    if (character === '{') depth++
    if (character === '}') depth--
    if (character === ',' && depth === 0) choices.push('')
    else choices[choices.length - 1] += character
  }
  return choices
}

function tokenOf(token: string, glob: string): Token {
  if (token === '**/') return folders
  if (token === '**') return stars(() => true)
  if (token === '*') return stars((character) => character !== '/')
  if (token === '?') return oneOf((character) => character !== '/')
  return token.length > 1 && token.startsWith('[') ? oneOf(setOf(token, glob)) : word(token)
}

type Takes = (character: string) => boolean

function setOf(token: string, glob: string): Takes {
  try {
    const set = new RegExp(`^${token.replace('[!', '[^').replaceAll('\\', '\\\\')}$`, 's')
    return (character) => set.test(character)
  } catch (cause) {
    const what = `${token} in the glob ${JSON.stringify(cleanText(glob, 200))} is not a set of characters`
    throw new UsageError('glob', `${what}; write it like [abc], [a-z] or [!0-9]`, { cause })
  }
}

function oneOf(takes: Takes): Token {
  return (path, behind) => behind.map((_, i) => (i < path.length && takes(path[i]!) ? behind[i + 1]! : 0))
}

function stars(takes: Takes): Token {
  return (path, behind) => {
    const fits = behind.slice()
    for (let i = path.length - 1; i >= 0; i--) if (takes(path[i]!)) fits[i]! |= fits[i + 1]!
    return fits
  }
}

/** Any number of whole folders. */
function folders(path: string, behind: Fits): Fits {
  const fits = behind.slice()
  for (let i = path.length - 1, slash = -1; i >= 0; i--) {
    if (path[i] === '/') slash = i
    else if (slash >= 0) fits[i]! |= fits[slash + 1]!
  }
  return fits
}

function word(text: string): Token {
  return (path, behind) => behind.map((_, i) => (path.startsWith(text, i) && behind[i + text.length] === 1 ? 1 : 0))
}

function choice(globs: readonly string[]): Token {
  const choices = globs.map(sequence)
  return (path, behind) => {
    const fits = choices.map((token) => token(path, behind))
    return behind.map((_, i) => (fits.some((each) => each[i] === 1) ? 1 : 0))
  }
}

export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path)
}

/** The folder part before the first special character. */
export function globRoot(glob: string): string {
  const parts = glob.split('/')
  const fixed = parts.slice(
    0,
    parts.findIndex((part) => isGlob(part)),
  )
  return fixed.join('/') || (glob.startsWith('/') ? '/' : '.')
}

/** Called for every folder that cannot be listed and every broken link. */
type Unreadable = (path: string, error: unknown) => void

interface Walk {
  /** Real paths of folders, so that each is listed once despite links. */
  readonly seen: Set<string>
  readonly linked: string[]
  readonly unreadable: Unreadable | undefined
}

/**
 * Files below a folder in a stable order, those behind linked folders last; folders that begin with a dot and
 * node_modules are not entered. Unless somebody listens, a folder that cannot be listed is an error.
 */
export function* walkFiles(folder: string, unreadable?: Unreadable): Generator<string> {
  const walk: Walk = { seen: new Set(), linked: [], unreadable }
  yield* filesBelow(folder, realpathSync(folder), walk)
  for (const link of walk.linked) yield* filesBelow(link, realpathSync(link), walk)
}

function* filesBelow(folder: string, real: string, walk: Walk): Generator<string> {
  if (walk.seen.has(real)) return
  walk.seen.add(real)
  for (const entry of entriesOf(folder, walk)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && isEntered(entry.name)) yield* filesBelow(path, join(real, entry.name), walk)
    else if (entry.isFile() || (entry.isSymbolicLink() && leadsToFile(path, entry.name, walk))) yield path
  }
}

function entriesOf(folder: string, { unreadable }: Walk): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort(byName)
  } catch (error) {
    // A failing disk would silently hide models.
    if (!unreadable || !isUnreadable(error)) throw error
    unreadable(folder, error)
    return []
  }
}

/** Linked folders are followed later, since their files may be reachable without the link. */
function leadsToFile(path: string, name: string, { linked, unreadable }: Walk): boolean {
  try {
    const found = statSync(path)
    if (found.isDirectory() && isEntered(name)) linked.push(path)
    return found.isFile()
  } catch (error) {
    if (!isUnreadable(error)) throw error
    if (isEntered(name)) unreadable?.(path, error)
    return false
  }
}

function isEntered(name: string): boolean {
  return name !== 'node_modules' && !name.startsWith('.')
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
