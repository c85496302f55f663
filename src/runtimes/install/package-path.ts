import { sep } from 'node:path'

const MARK = `${sep}node_modules${sep}`

/** The file as its package names it: where that package is installed is nobody's business in a record. */
export function packagePath(file: string): string {
  const at = file.lastIndexOf(MARK)
  return at < 0 ? file : file.slice(at + MARK.length)
}
