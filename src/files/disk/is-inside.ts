import { isAbsolute, relative } from 'node:path'

/** Whether a path is below a folder, without resolving links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way.split(/[/\\]/)[0] !== '..' && !isAbsolute(way)
}
