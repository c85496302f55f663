import type { RunOutcome } from '../runs/execute/execute.ts'
import type { RunOptions } from './judge-request.ts'

export interface ConvergenceTestOptions extends RunOptions {
  readonly storagePath: string
  readonly configPath: string
  readonly manifestName?: string
  /** Records known-good training instead of replaying it. */
  readonly gather?: boolean
  /** With `gather`: writes over what is there. */
  readonly startOver?: boolean
  readonly root?: string
  readonly seeds?: readonly number[]
  readonly jobs?: number
  /** Words of ids, as after `-k`. */
  readonly keyword?: string
  readonly outputDir?: string
}

/** Has training got worse since it was gathered? As `assay converge` does it; records the run and returns it, prints nothing. */
export async function convergenceTest(options: ConvergenceTestOptions): Promise<RunOutcome> {
  const { configPath, seeds, cwd, reporters, signal, notice, ...rest } = options
  // A configuration imports the whole package for one word of it.
  const { judgeRequest } = await import('./judge-request.ts')
  const given = { ...rest, testConfigPath: configPath, ...(seeds && { seeds: `${seeds.join(',')},` }) }
  return judgeRequest({ command: 'converge', words: [], options: given }, options)
}
