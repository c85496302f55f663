import { Script } from 'node:vm'

const scope = globalThis as { assayTimedWork?: () => void }
const script = new Script('globalThis.assayTimedWork()')

/** Does work that may never end, such as matching a pattern; false if it was stopped. Blocks this thread meanwhile. */
export function within(limitMs: number, work: () => void): boolean {
  scope.assayTimedWork = work
  try {
    script.runInThisContext({ timeout: Math.max(1, Math.ceil(limitMs)) })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    delete scope.assayTimedWork
  }
}
