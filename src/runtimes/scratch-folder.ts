import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, setVariables } from '../domain/environment.ts'

/** A name for a worker's own temporary folder; whoever needs the folder makes it. */
export function scratchFolder(runtime: string, environment: Environment): string {
  const { TMPDIR = tmpdir() } = setVariables(environment)
  return join(TMPDIR, `assay-${runtime}-${randomBytes(6).toString('hex')}`)
}
