import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Environment } from '../../../domain/environment.ts'
import { remember } from '../../../domain/remember.ts'
import type { GitState } from '../config/contract.ts'

const run = promisify(execFile)

/** Looks at each folder once: all windows of a run are of one state. */
export function gitStates(environment: Environment): (folder: string) => Promise<GitState | null> {
  const known = new Map<string, Promise<GitState | null>>()
  return (folder) => remember(known, folder, () => gitState(folder, environment))
}

/** The commit of a folder's repository; null where there is none, or no git. */
async function gitState(folder: string, env: Environment): Promise<GitState | null> {
  try {
    const [{ stdout: commit }, { stdout: changes }] = await Promise.all([
      run('git', ['rev-parse', 'HEAD'], { cwd: folder, env }),
      run('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: folder, env }),
    ])
    return { commit: commit.trim(), isDirty: changes.trim() !== '' }
  } catch {
    return null
  }
}
