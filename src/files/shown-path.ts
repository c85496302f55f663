import { isAbsolute, relative } from 'node:path'

/** Relative to the current folder where it lies inside. */
export function shownPath(folder: string): string {
  const path = isAbsolute(folder) ? relative(process.cwd(), folder) : folder
  return path.startsWith('..') || path === '' ? folder : path
}
