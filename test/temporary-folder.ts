import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** All temporary folders of a test run lie in one, so that nothing is left behind. Short: sockets lie in there too. */
export default function setup(): () => void {
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(tmpdir(), 'assay-'))
  process.env.TMPDIR = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
