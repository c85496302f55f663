import { join } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { findOwnFolder } from '../../runtimes/install/own-folder.ts'
import { isExecutable } from '../../runtimes/process/find-program.ts'
import { askPython } from '../../runtimes/python/ask-python.ts'
import { listPins, PYTHON_ENGINES } from '../../runtimes/python/engines.ts'
import { interpreterIn, pythonHome, readEnvironment } from '../../runtimes/python/environment.ts'
import { locate } from '../../runtimes/python/find-python.ts'

export interface EngineStates {
  /** The interpreter that was looked at; null: there is none. */
  readonly python: { readonly path: string; readonly version: string } | null
  readonly engines: readonly EngineState[]
}

interface EngineState {
  readonly name: string
  readonly packages: readonly PackageState[]
  /** All of it can be imported, and the installation ended well. */
  readonly isHere: boolean
}

interface PackageState {
  readonly name: string
  readonly pinned: string
  readonly installed: string | null
}

/** What a Python has of the engines: the one that somebody named, or the one that was set up here. */
export async function engineStates(
  named: string | undefined,
  cwd: string,
  environment: Environment,
): Promise<EngineStates> {
  const home = findOwnFolder(pythonHome(join(cwd, '.assay', 'runtimes')), environment)
  const path = named === undefined ? ownInterpreter(home) : namedInterpreter(named, cwd, environment)
  const modules = PYTHON_ENGINES.flatMap((engine) => engine.modules)
  const packages = PYTHON_ENGINES.flatMap((engine) => engine.packages)
  const facts = path === null ? null : await askPython(path, packages, modules)
  if (facts instanceof Error) throw new UsageError('install', `${path} does not work: ${facts.message}`)
  const finished = named === undefined ? Object.keys((home && readEnvironment(home)?.engines) ?? {}) : null
  const engines = PYTHON_ENGINES.map((engine) => ({
    name: engine.name,
    packages: listPins(engine).map((pin) => packageState(pin, facts?.packages ?? {})),
    isHere: engine.modules.every((module) => facts?.modules[module]) && (finished?.includes(engine.name) ?? true),
  }))
  return { python: path !== null && facts ? { path, version: facts.python } : null, engines }
}

function ownInterpreter(home: string | null): string | null {
  if (home === null) return null
  const path = interpreterIn(home)
  return isExecutable(path) ? path : null
}

function namedInterpreter(named: string, cwd: string, environment: Environment): string {
  const path = locate(named, cwd, environment)
  if (path === null) throw new UsageError('install', `there is no program "${named}"`)
  return path
}

function packageState(pin: string, installed: Readonly<Record<string, string | null>>): PackageState {
  const [name = '', pinned = ''] = pin.split('==')
  return { name, pinned, installed: installed[name] ?? null }
}
