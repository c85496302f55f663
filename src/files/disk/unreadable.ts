import { accessSync, constants, readdirSync, readlinkSync, statSync } from 'node:fs'

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read; fix its permissions',
  EPERM: 'cannot be read; fix its permissions',
  ELOOP: 'is a link that points back to itself',
  ENAMETOOLONG: 'has a name too long for this system',
}

/** True if the cause is permanent, such as permissions; false for others, such as a broken disk. */
export function isUnreadable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return Object.hasOwn(CAUSES, code) || isAbsent(error)
}

/** What goes after the path of something that could not be read: `is a link to x.onnx, which does not exist`. */
export function unreadableText(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  if (code === null) throw error
  const link = code === 'ENOENT' ? linkAt(path) : null
  if (link !== null) return `is a link to ${link}, which does not exist`
  if (code === 'ENOENT' && isMisread(path)) return NOT_UTF8
  return CAUSES[code] ?? `cannot be read (${code})`
}

/** Why a file or a folder's listing cannot be read; null: it can, or it does not exist. */
export function whyUnreadable(path: string): string | null {
  try {
    if (statSync(path).isDirectory()) readdirSync(path)
    else accessSync(path, constants.R_OK)
    return null
  } catch (error) {
    return isAbsent(error) && linkAt(path) === null && !isMisread(path) ? null : unreadableText(path, error)
  }
}

const NOT_UTF8 = 'has a name that is not UTF-8, so it cannot be opened; rename it'

/** Node replaces invalid bytes in a name with U+FFFD, so no such file is found. */
function isMisread(path: string): boolean {
  return path.includes('\ufffd')
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** The target of a link; null: not a link. */
function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
