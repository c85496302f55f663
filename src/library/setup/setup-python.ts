import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { unknown } from '../../domain/suggest.ts'
import { explainWriteError, writeFileAtomic } from '../../files/disk/atomic.ts'
import { hideFromGit } from '../../files/disk/hide-from-git.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { withLock } from '../../runtimes/install/install-lock.ts'
import { findOwnFolder, makeOwnFolder } from '../../runtimes/install/own-folder.ts'
import { isExecutable } from '../../runtimes/process/find-program.ts'
import { askPython } from '../../runtimes/python/ask-python.ts'
import { listPins, PYTHON_ENGINES, type PythonEngine } from '../../runtimes/python/engines.ts'
import {
  interpreterIn,
  type PythonEnvironment,
  pythonHome,
  readEnvironment,
  recordPath,
  SCHEMA,
} from '../../runtimes/python/environment.ts'
import { basePython } from './base-python.ts'
import { runPython } from './pip.ts'

export interface SetupRequest {
  readonly cwd: string
  readonly environment: Environment
  /** Empty: all of them. */
  readonly engines: readonly string[]
  /** The Python to make the environment from; without it, python3 of PATH. */
  readonly base: string | undefined
  /** Ends it. */
  readonly signal: AbortSignal
  /** What is being done now, and what a tool says about it. */
  readonly progress: (step: string, detail?: string) => void
}

export interface SetupOutcome {
  readonly home: string
  readonly python: string
  /** It was there before, so the Python that was named to make it from did not count. */
  readonly baseIgnored: boolean
  /** What was asked for, with what pip installed; `isNew` where it was not there before. */
  readonly engines: readonly { readonly name: string; readonly pins: readonly string[]; readonly isNew: boolean }[]
}

/** Makes the environment where there is none, and installs what is missing in it. */
export async function setupPython(request: SetupRequest): Promise<SetupOutcome> {
  const engines = enginesNamed(request.engines)
  await hideFromGit(join(request.cwd, '.assay'))
  let outcome: SetupOutcome | undefined
  await withLock(`${usualHome(request)}.lock`, async () => {
    outcome = await installMissing(engines, request)
  })
  return outcome!
}

/** Where it lies unless somebody else's lies there. */
function usualHome({ cwd }: SetupRequest): string {
  return pythonHome(join(cwd, '.assay', 'runtimes'))
}

function enginesNamed(names: readonly string[]): readonly PythonEngine[] {
  const known = PYTHON_ENGINES.map(({ name }) => name)
  const stranger = names.find((name) => !known.includes(name))
  if (stranger !== undefined) throw unknown('engine', `engine "${stranger}" of Python`, stranger, known)
  return names.length === 0 ? PYTHON_ENGINES : PYTHON_ENGINES.filter(({ name }) => names.includes(name))
}

async function installMissing(engines: readonly PythonEngine[], request: SetupRequest): Promise<SetupOutcome> {
  const own = findOwnFolder(usualHome(request), request.environment)
  const before = own === null ? null : await healthyEnvironment(own)
  const missing = engines.filter((engine) => !isInstalled(engine, before))
  const made = before && own !== null ? { home: own, python: before.python } : await makeEnvironment(own, request)
  if (missing.length > 0) {
    await installEngines(missing, made.home, before ?? { schema: SCHEMA, python: made.python, engines: {} }, request)
  }
  return {
    ...made,
    baseIgnored: before !== null && request.base !== undefined,
    engines: engines.map((engine) => ({ name: engine.name, pins: listPins(engine), isNew: missing.includes(engine) })),
  }
}

/** One whose installation ended and whose interpreter still answers. */
async function healthyEnvironment(home: string): Promise<PythonEnvironment | null> {
  const environment = readEnvironment(home)
  const path = interpreterIn(home)
  if (!environment || !isExecutable(path)) return null
  return (await askPython(path, [], [])) instanceof Error ? null : environment
}

/** In the versions that this Assay wants; an older one had others. */
function isInstalled(engine: PythonEngine, environment: PythonEnvironment | null): boolean {
  const installed = environment?.engines[engine.name] ?? []
  return listPins(engine).every((pin) => installed.includes(pin))
}

/** Anew, whatever lies in ours: it is half made, or its interpreter is gone. */
async function makeEnvironment(own: string | null, request: SetupRequest): Promise<{ home: string; python: string }> {
  const { base, cwd, environment, progress } = request
  const { path, version } = await basePython(base, cwd, environment)
  if (own !== null) await removeOld(own)
  const home = await makeOwnFolder(usualHome(request), environment)
  progress(`making a Python ${version} environment in ${shownPath(home, cwd)}`)
  const { succeeded, complaint } = await runPython(path, ['-P', '-m', 'venv', home], request)
  if (succeeded) return { home, python: version }
  await rm(home, { recursive: true, force: true })
  throw toolFailure(`cannot make an environment with ${path}; the end of what it said is above`, complaint)
}

async function removeOld(home: string): Promise<void> {
  try {
    await rm(home, { recursive: true, force: true })
  } catch (error) {
    throw explainWriteError(error, home)
  }
}

/** While pip works there is no record, so that an environment in the middle of a change is never taken for a good one. */
async function installEngines(
  engines: readonly PythonEngine[],
  home: string,
  before: PythonEnvironment,
  request: SetupRequest,
): Promise<void> {
  const { progress } = request
  const names = engines.map(({ name }) => name).join(', ')
  const record = recordPath(home)
  await rm(record, { force: true })
  progress(`installing ${names}`)
  const pins = [...new Set(engines.flatMap(listPins))]
  const quiet = ['--disable-pip-version-check', '--no-input', '--progress-bar', 'off']
  const pip = ['-P', '-m', 'pip', 'install', ...quiet, ...pins]
  const { succeeded, complaint } = await runPython(interpreterIn(home), pip, request, (line) => {
    const news = newsIn(line)
    if (news) progress(`installing ${names}`, news)
  })
  if (!succeeded) {
    // pip takes back what it began, so what was there before still is.
    if (Object.keys(before.engines).length > 0) await writeRecord(record, before)
    throw toolFailure(`cannot install ${names}; the end of what pip said is above`, complaint)
  }
  progress(`trying ${names}`)
  for (const engine of engines) await refuseBroken(engine, home, request)
  const installed = Object.fromEntries(engines.map((engine) => [engine.name, listPins(engine)]))
  await writeRecord(record, { ...before, engines: { ...before.engines, ...installed } })
}

function toolFailure(message: string, said: string): UsageError {
  return new UsageError('install', message, { cause: said })
}

function writeRecord(path: string, record: PythonEnvironment): Promise<void> {
  return writeFileAtomic(path, `${JSON.stringify(record, null, 2)}\n`)
}

const NEWS = /^\s*(Collecting|Downloading|Installing|Building) (.*)$/

/** `downloading numpy-2.4.6-….whl (16.6 MB)` */
function newsIn(line: string): string | undefined {
  const [, what, rest] = NEWS.exec(line) ?? []
  return what && `${what.toLowerCase()} ${rest}`
}

/** pip is content with libraries that cannot be loaded here. */
async function refuseBroken({ name, modules }: PythonEngine, home: string, request: SetupRequest): Promise<void> {
  const imports = modules.map((module) => `import ${module}`).join('; ')
  const { succeeded, complaint } = await runPython(interpreterIn(home), ['-P', '-c', imports], request)
  if (succeeded) return
  throw toolFailure(`${name} was installed but cannot be loaded here; the end of what Python said is above`, complaint)
}
