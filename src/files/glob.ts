import { type Dirent, readdirSync, statSync } from 'node:fs'
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

/** Files below a folder in a stable order; folders that begin with a dot and node_modules are not entered. */
export function* walkFiles(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort(byName)
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) yield* walkFiles(path)
    else if (entry.isFile()) yield path
    else if (entry.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isFile()) yield path
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}
