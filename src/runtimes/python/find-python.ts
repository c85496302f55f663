import { resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { shellWord } from '../../domain/shell.ts'
import type { LaunchContext } from '../contract.ts'
import { findProgram, isExecutable } from '../find-program.ts'
import { engineNamed, pinsOf } from './engines.ts'
import { interpreterIn, pythonHome, readEnvironment } from './environment.ts'

interface Found {
  readonly path: string
}

interface Absent {
  readonly path: null
  readonly reason: string
}

/** The Python for an engine, with what to do where it lacks something. */
export type FoundPython = (Found | Absent) & { readonly remedy: string }

/** The Python that somebody named, otherwise the one that `assay setup python` made. */
export function findPython(engine: string, context: LaunchContext): FoundPython {
  return context.python === undefined ? ownPython(engine, context) : namedPython(engine, context.python, context)
}

function ownPython(engine: string, { runtimesFolder }: LaunchContext): FoundPython {
  const remedy = `run: assay setup python ${engine}`
  const home = pythonHome(runtimesFolder)
  const path = interpreterIn(home)
  const environment = readEnvironment(home)
  if (!environment || !isExecutable(path)) {
    return { path: null, reason: `${engine} needs a Python environment, which is not set up here`, remedy }
  }
  if (Object.hasOwn(environment.engines, engine)) return { path, remedy }
  return { path: null, reason: `${engine} is not installed in .assay/python`, remedy }
}

/** Into a Python that somebody named, nothing is installed by us. */
function namedPython(engine: string, python: string, { projectFolder, environment }: LaunchContext): FoundPython {
  const path = locate(python, projectFolder, environment)
  if (path !== null)
    return { path, remedy: `run: ${shellWord(python)} -m pip install ${pinsOf(engineNamed(engine)).join(' ')}` }
  const reason = `there is no program "${python}", which --python, ASSAY_PYTHON or the configuration names`
  return { path, reason, remedy: 'name another, or none and run: assay setup python' }
}

/** A path, or the name of a program in PATH. */
export function locate(python: string, folder: string, { PATH = '' }: Environment): string | null {
  if (!/[/\\]/.test(python)) return findProgram(python, PATH)
  const path = resolve(folder, python)
  return isExecutable(path) ? path : null
}
