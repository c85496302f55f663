import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { nearest } from '../../domain/suggest.ts'

/** A file or folder with nearly the mistyped name, in the same folder; null if there is none. */
export function nearFile(path: string, cwd = '.'): string | null {
  const folder = dirname(path)
  const place = resolve(cwd, folder)
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) return null
  const near = nearest(basename(path), readdirSync(place))
  return near === null ? null : folder === '.' && !path.startsWith('.') ? near : join(folder, near)
}
