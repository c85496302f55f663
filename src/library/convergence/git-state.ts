import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Sidecar } from '../../files/convergence/contract.ts'

const run = promisify(execFile)

/** The commit of a folder's repository; null where there is none, or no git. */
export async function gitState(folder: string): Promise<Sidecar['git']> {
  try {
    const [{ stdout: commit }, { stdout: changes }] = await Promise.all([
      run('git', ['rev-parse', 'HEAD'], { cwd: folder }),
      run('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: folder }),
    ])
    return { commit: commit.trim(), isDirty: changes.trim() !== '' }
  } catch {
    return null
  }
}
