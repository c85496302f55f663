const ORPHAN_POLL_MS = 1000

/** While nobody reads standard input its end goes unnoticed, but not that the host is gone. */
export function endWithHost(end: () => void): void {
  const host = process.ppid
  setInterval(() => process.ppid !== host && end(), ORPHAN_POLL_MS).unref()
}
