import { codeAmong } from '../domain/error-code.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
const BROKEN = new Set(['EIO'])

/** The code of a write that failed for want of room, wherever it lies in the chain of causes. */
export function fullDiskCode(error: unknown): string | null {
  return codeAmong(FULL, error)
}

export function describeFullDisk(code: string, what: string): string {
  if (code === 'EFBIG')
    return `a file grew over the size limit while ${what}; raise it (ulimit -f) or use another folder`
  const found = code === 'EDQUOT' ? 'the disk quota is used up' : 'the disk is full'
  return `${found} (${code}) while ${what}; free some space, lower the cache's budget or use another folder`
}

/** What a disk that is full or broken did, in words; null: it is something else. */
export function describeDiskError(error: unknown): string | null {
  const path = error instanceof Error && 'path' in error ? String(error.path) : 'a file'
  const full = fullDiskCode(error)
  if (full) return describeFullDisk(full, `writing ${path}`)
  return codeAmong(BROKEN, error) ? `the disk reported an error (EIO) at ${path}; check the disk, then try again` : null
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
