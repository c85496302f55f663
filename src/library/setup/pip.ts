import { spawn } from 'node:child_process'
import type { Environment } from '../../domain/environment.ts'
import { eachLine } from '../../runtimes/process/each-line.ts'
import { Tail } from '../../runtimes/process/tail.ts'
import { type ToolEnd, waitForTool } from '../../runtimes/process/tool-end.ts'

/** Runs a Python with arguments, which begin with -P so that no file of the current folder is imported; every line that it prints is given on as it comes. */
export async function runPython(
  path: string,
  args: readonly string[],
  { environment, signal }: { readonly environment: Environment; readonly signal: AbortSignal },
  onOutput: (line: string) => void = () => {},
): Promise<ToolEnd> {
  const child = spawn(path, args, { env: pipEnvironment(environment), stdio: ['ignore', 'pipe', 'pipe'], signal })
  const tail = new Tail()
  for (const stream of [child.stdout, child.stderr]) tail.drain(stream)
  eachLine(child.stdout, onOutput)
  const end = await waitForTool(child, tail)
  signal.throwIfAborted()
  return end
}

/** Somebody's own settings of pip count, but for those that would install somewhere else. */
function pipEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const misleading =
    /^(PIP_(USER|TARGET|PREFIX|ROOT|DRY_RUN|REQUIREMENT|PYTHON|NO_DEPS)|PYTHONHOME|PYTHONPATH|__PYVENV_LAUNCHER__)$/
  const others = Object.entries(environment).filter(([key]) => !misleading.test(key))
  return { ...Object.fromEntries(others), PYTHONUNBUFFERED: '1' }
}
