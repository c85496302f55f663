import type { Reporter } from '../domain/run.ts'
import type { RunOutcome } from '../runs/execute/execute.ts'
import { type CommandRequest, invoke } from './invocation.ts'

/** Who hears of a run, whatever is judged. */
export interface RunOptions {
  /** Whose assay.config.* counts and where paths begin; the current folder by default. */
  readonly cwd?: string
  /** Hear of every case while the run goes on. */
  readonly reporters?: readonly Reporter[]
  /** Ends the run. */
  readonly signal?: AbortSignal
  /** What has no place in an event, such as that a runtime is being installed. */
  readonly notice?: (text: string) => void
}

type Asked = Pick<CommandRequest, 'command' | 'words' | 'options' | 'sections'>

/** Judges what a command line would ask for, records the run and returns it; nothing is printed. */
export async function judgeRequest(asked: Asked, options: RunOptions): Promise<RunOutcome> {
  const { cwd = process.cwd(), reporters = [], signal, notice = () => {} } = options
  const invocation = await invoke({ ...asked, cwd, environment: process.env }, notice)
  const { judge } = await import('./judge.ts')
  return judge(invocation, { reporters, notice, ...(signal && { signals: { stop: signal, abort: signal } }) })
}
