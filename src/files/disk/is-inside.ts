import { isAbsolute, relative } from 'node:path'

/** Whether a path lies below a folder, whatever links may lead elsewhere. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way.split(/[/\\]/)[0] !== '..' && !isAbsolute(way)
}
