import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Turns `*`, `**`, `?`, `[…]` and `{a,b}` into a regular expression over `/`-separated paths. */
export function globToRegExp(glob: string): RegExp {
  let source = ''
  for (let i = 0; i < glob.length; i++) {
    const rest = glob.slice(i)
    const token = /^(\*\*\/|\*\*|\*|\?|\[[^\]]+\]|\{[^}]+\})/.exec(rest)?.[0]
    source += token ? translate(token) : escaped(glob[i]!)
    i += (token?.length ?? 1) - 1
  }
  return new RegExp(`^${source}$`, 's')
}

function translate(token: string): string {
  if (token === '**/') return '(?:[^/]+/)*'
  if (token === '**') return '.*'
  if (token === '*') return '[^/]*'
  if (token === '?') return '[^/]'
  if (token.startsWith('[')) return token.replace('[!', '[^').replaceAll('\\', '\\\\')
  return `(?:${token.slice(1, -1).split(',').map(escaped).join('|')})`
}

function escaped(text: string): string {
  return text.replace(/[.+^${}()|[\]\\*?]/g, '\\$&')
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

/** Told of every folder that cannot be listed, and of every link that leads nowhere. */
type Unreadable = (path: string, error: unknown) => void

interface Walk {
  /** Where folders really lie: each is listed once, whatever links lead there. */
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
    if (!unreadable) throw error
    unreadable(folder, error)
    return []
  }
}

/** A link to a folder is followed later: what lies below it may be reached without it. */
function leadsToFile(path: string, name: string, { linked, unreadable }: Walk): boolean {
  try {
    const found = statSync(path)
    if (found.isDirectory() && isEntered(name)) linked.push(path)
    return found.isFile()
  } catch (error) {
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
