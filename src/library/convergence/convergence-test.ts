import type { Reporter } from '../../domain/run.ts'
import type { RunOutcome, RunSignals } from '../../runs/execute/execute.ts'

export interface ConvergenceTestOptions {
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
  readonly cwd?: string
  readonly reporters?: readonly Reporter[]
  readonly signal?: AbortSignal
  readonly notice?: (text: string) => void
}

/** Has training got worse since it was gathered? As `assay converge` does it; records the run and returns it, prints nothing. */
export async function convergenceTest(options: ConvergenceTestOptions): Promise<RunOutcome> {
  const { configPath, seeds, cwd = process.cwd(), reporters = [], signal, notice = () => {}, ...rest } = options
  // A configuration imports the whole package for one word of it.
  const [{ convergeInvocation }, { judgeConvergence }] = await Promise.all([
    import('./converge-invocation.ts'),
    import('./judge-convergence.ts'),
  ])
  const invocation = await convergeInvocation({
    command: 'converge',
    cwd,
    paths: [],
    environment: process.env,
    options: { ...rest, testConfigPath: configPath, ...(seeds && { seeds: `${seeds.join(',')},` }) },
  })
  const signals: RunSignals | undefined = signal && { stop: signal, abort: signal }
  return judgeConvergence(invocation, { reporters, notice, ...(signals && { signals }) })
}
