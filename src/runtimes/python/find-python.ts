import { join, resolve } from 'node:path'
import type { LaunchContext } from '../contract.ts'
import { findProgram, isExecutable } from '../find-program.ts'

export interface FoundPython {
  /** null: it is not there. */
  readonly path: string | null
  /** As somebody named it; null: the one of `assay setup python`. */
  readonly named: string | null
}

/** The Python that somebody named, otherwise the one that `assay setup python` made. */
export function findPython({ python, projectFolder, runtimesFolder }: LaunchContext): FoundPython {
  if (python === undefined) {
    const path = interpreterIn(pythonHome(runtimesFolder))
    return { path: isExecutable(path) ? path : null, named: null }
  }
  if (!/[/\\]/.test(python)) return { path: findProgram(python, process.env.PATH ?? ''), named: python }
  const path = resolve(projectFolder, python)
  return { path: isExecutable(path) ? path : null, named: python }
}

/** Where `assay setup python` makes its environment. */
export function pythonHome(runtimesFolder: string): string {
  return join(runtimesFolder, '..', 'python')
}

export function interpreterIn(home: string): string {
  return process.platform === 'win32' ? join(home, 'Scripts', 'python.exe') : join(home, 'bin', 'python3')
}
