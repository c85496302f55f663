import { basename, resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { shellWord } from '../../domain/shell.ts'
import type { LaunchContext } from '../contract.ts'
import { findOwnFolder } from '../install/own-folder.ts'
import { findProgram, isExecutable } from '../process/find-program.ts'
import { engineNamed, listPins } from './engines.ts'
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

function ownPython(engine: string, { runtimesFolder, environment: variables }: LaunchContext): FoundPython {
  const remedy = `run: assay setup python ${engine}`
  const absent = (reason: string) => ({ path: null, reason, remedy })
  const usual = pythonHome(runtimesFolder)
  const home = findOwnFolder(usual, variables)
  if (home === null && readEnvironment(usual) !== null) {
    return absent(`the Python environment in .assay/python was not made by you on this machine, so it is not run`)
  }
  const path = home === null ? '' : interpreterIn(home)
  const environment = home === null ? null : readEnvironment(home)
  if (!environment || !isExecutable(path)) {
    return absent(`${engine} needs a Python environment, which is not set up here`)
  }
  if (Object.hasOwn(environment.engines, engine)) return { path, remedy }
  return absent(`${engine} is not installed in .assay/${basename(home!)}`)
}

/** Into a Python that somebody named, nothing is installed by us. */
function namedPython(engine: string, python: string, { projectFolder, environment }: LaunchContext): FoundPython {
  const path = locate(python, projectFolder, environment)
  if (path !== null)
    return { path, remedy: `run: ${shellWord(python)} -m pip install ${listPins(engineNamed(engine)).join(' ')}` }
  const reason = `there is no program "${python}" (named by --python, ASSAY_PYTHON or the configuration)`
  return { path, reason, remedy: 'name another, or remove the setting and run: assay setup python' }
}

/** A path, or the name of a program in PATH. */
export function locate(python: string, folder: string, { PATH = '' }: Environment): string | null {
  if (!/[/\\]/.test(python)) return findProgram(python, PATH)
  const path = resolve(folder, python)
  return isExecutable(path) ? path : null
}
