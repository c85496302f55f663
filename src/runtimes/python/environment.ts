import { join } from 'node:path'
import { readTextSync } from '../../files/disk/regular-file.ts'

/** What `assay setup python` made; without this file, or with a name missing in it, an installation did not end well. */
export interface PythonEnvironment {
  readonly schema: typeof SCHEMA
  readonly python: string
  /** Engine → what was installed for it. */
  readonly engines: Readonly<Record<string, readonly string[]>>
}

export const SCHEMA = 'assay/python@1'
const RECORD = 'assay.json'

/** Where `assay setup python` makes its environment. */
export function pythonHome(runtimesFolder: string): string {
  return join(runtimesFolder, '..', 'python')
}

export function recordPath(home: string): string {
  return join(home, RECORD)
}

export function interpreterIn(home: string): string {
  return process.platform === 'win32' ? join(home, 'Scripts', 'python.exe') : join(home, 'bin', 'python3')
}

/** null: there is none, or it is not complete. */
export function readEnvironment(home: string): PythonEnvironment | null {
  try {
    const record = JSON.parse(readTextSync(recordPath(home))) as Partial<PythonEnvironment>
    return record.schema === SCHEMA && record.engines ? (record as PythonEnvironment) : null
  } catch {
    return null
  }
}
