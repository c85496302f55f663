const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** The code of a write that failed for want of room, wherever it lies in the chain of causes. */
export function fullDiskCode(error: unknown): string | null {
  let link = error
  for (let depth = 0; link instanceof Error && depth < 10; depth++, link = link.cause) {
    const code = 'code' in link ? String(link.code) : ''
    if (FULL.has(code)) return code
  }
  return null
}

export function describeFullDisk(code: string, what: string): string {
  if (code === 'EFBIG')
    return `a file grew over the size limit while ${what}; raise it (ulimit -f) or use another folder`
  const found = code === 'EDQUOT' ? 'the disk quota is used up' : 'the disk is full'
  return `${found} (${code}) while ${what}; free some space, lower the cache's budget or use another folder`
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
