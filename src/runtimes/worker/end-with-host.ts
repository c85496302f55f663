const ORPHAN_POLL_MS = 1000

/** As soon as this process can tell: a host that was killed before is not seen to go. */
const host = process.ppid

/** While nobody reads standard input its end goes unnoticed, but not that the host is gone. */
export function endWithHost(end: () => void): void {
  setInterval(() => process.ppid !== host && end(), ORPHAN_POLL_MS).unref()
}
