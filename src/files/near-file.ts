import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { nearest } from '../domain/target.ts'

/** A file or folder beside a mistyped one with nearly that name; null where there is none. */
export function nearFile(path: string): string | null {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return null
  const near = nearest(basename(path), readdirSync(folder))
  return near === null ? null : folder === '.' && !path.startsWith('.') ? near : join(folder, near)
}
