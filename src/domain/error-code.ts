const TOO_MANY = new Set(['EMFILE', 'ENFILE'])

/** The first of these system codes found anywhere in the chain of causes. */
export function codeAmong(codes: ReadonlySet<string>, error: unknown): string | null {
  let link = error
  for (let depth = 0; link instanceof Error && depth < 10; depth++, link = link.cause) {
    const code = 'code' in link ? String(link.code) : ''
    if (codes.has(code)) return code
  }
  return null
}

/** The code if a file or pipe could not be opened because too many are open. */
export function tooManyFilesCode(error: unknown): string | null {
  return codeAmong(TOO_MANY, error)
}

export function describeTooManyFiles(code: string): string {
  if (code === 'ENFILE') return 'this machine has no room for another open file (ENFILE); end other programs'
  return 'this process may not open more files (EMFILE); allow more with `ulimit -n 1024`, or run fewer --jobs'
}
