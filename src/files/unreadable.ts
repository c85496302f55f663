import { accessSync, constants, readdirSync, readlinkSync, statSync } from 'node:fs'

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'may not be read; mend its permissions',
  EPERM: 'may not be read; mend its permissions',
  ELOOP: 'is a link that leads back to itself',
  ENAMETOOLONG: 'has a name too long for this system',
}

/** What goes after the path of something that could not be read: `is a link to x.onnx, which does not exist`. */
export function unreadableText(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  if (code === null) throw error
  const link = code === 'ENOENT' ? linkAt(path) : null
  if (link !== null) return `is a link to ${link}, which does not exist`
  return CAUSES[code] ?? `cannot be read (${code})`
}

/** Why a file, or a folder's list of files, cannot be read; null: it can, or nothing is there. */
export function whyUnreadable(path: string): string | null {
  try {
    if (statSync(path).isDirectory()) readdirSync(path)
    else accessSync(path, constants.R_OK)
    return null
  } catch (error) {
    return isAbsent(error) && linkAt(path) === null ? null : unreadableText(path, error)
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** What a link names; null: it is none. */
function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
