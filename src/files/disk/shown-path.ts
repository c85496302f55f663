import { isAbsolute, relative } from 'node:path'

/** Relative to the folder that somebody works in, where it lies inside. */
export function shownPath(path: string, cwd: string): string {
  const shown = isAbsolute(path) ? relative(cwd, path) : path
  return shown.startsWith('..') || shown === '' ? path : shown
}
