import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const OURS = 'ASSAY_TEST_TMPDIR'

/** All temporary folders of a test run lie in one, with what Assay keeps of its user, so that nothing is left behind. Short: sockets lie in there too. */
export default function setup(): () => void {
  // Every project of a run is set up; they share the folder of the first.
  if (process.env[OURS] !== undefined) return () => {}
  const { TMPDIR, XDG_STATE_HOME } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'assay-'))
  Object.assign(process.env, { TMPDIR: folder, XDG_STATE_HOME: join(folder, 'state'), [OURS]: folder })
  return () => {
    for (const [name, before] of Object.entries({ TMPDIR, XDG_STATE_HOME })) {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    }
    delete process.env[OURS]
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
