import { isAbsolute, relative } from 'node:path'

/** The path relative to the working folder, if it is inside. */
export function shownPath(path: string, cwd: string): string {
  const shown = isAbsolute(path) ? relative(cwd, path) : path
  return shown.startsWith('..') || shown === '' ? path : shown
}
