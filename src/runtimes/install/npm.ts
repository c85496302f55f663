import { spawn } from 'node:child_process'
import type { Environment } from '../../domain/environment.ts'
import { Tail } from '../process/tail.ts'
import { type ToolEnd, waitForTool } from '../process/tool-end.ts'

interface NpmRun extends ToolEnd {
  readonly stdout: string
}

/** Runs the npm client in a folder that it takes for a project of its own, so that the user's is left alone. */
export async function runNpm(args: readonly string[], folder: string, environment: Environment): Promise<NpmRun> {
  const argv = [...args, '--prefix', folder]
  const child = spawn('npm', argv, { cwd: folder, env: npmEnvironment(environment), stdio: ['ignore', 'pipe', 'pipe'] })
  const tail = new Tail()
  tail.drain(child.stderr)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    stdout += part
  })
  const end = await waitForTool(child, tail)
  return { ...end, stdout }
}

/** Under `npx` and `npm run`, npm's own settings for that command would change what this one does. */
function npmEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const misleading =
    /^npm_config_(global|location|dry_run|workspaces?|package_lock_only|omit|include|prefix|local_prefix)$/i
  return Object.fromEntries(Object.entries(environment).filter(([key]) => !misleading.test(key)))
}
