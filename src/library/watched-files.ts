import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FormatError, StageError, UsageError } from '../domain/errors.ts'
import { readModel } from '../onnx/model.ts'
import { WorkerFailure } from '../runtimes/failure.ts'
import { schemaOf } from '../runtimes/registry.ts'
import { filesOfToolchain } from '../runtimes/toolchain/identity.ts'
import { CONFIG_NAMES } from '../settings/config-file.ts'
import { expectedPlace } from '../settings/expected-place.ts'
import { discoverModels } from '../suites/tensors/discover-models.ts'
import type { Invocation } from './invocation.ts'

/** File → when it changed last and how large it is. */
type Stamps = ReadonlyMap<string, string>

/** What a verdict depends on and a person may change. */
interface Watched {
  /** Model → stamps of its file and of its external data. */
  readonly models: ReadonlyMap<string, Stamps>
  /** The configuration and whatever else all models depend on. */
  readonly others: Stamps
}

export interface Change {
  readonly files: readonly string[]
  /** Only these models are concerned; null: all. */
  readonly models: readonly string[] | null
}

const EVERY_MS = 300
/** Of the time, at most so much goes into looking. */
const SHARE = 0.05

/** Waits before the next look. */
type Pause = (ms: number, signal: AbortSignal) => Promise<void>

const paused: Pause = (ms, signal) => delay(ms, undefined, { signal })

/** Looks at files again and again; those that are being written are waited for. */
export class FileWatch {
  readonly #cwd: string
  readonly #config: string | undefined
  readonly #pause: Pause
  readonly #external = new Map<string, { readonly stamp: string; readonly files: readonly string[] }>()
  #invocation: Invocation | null = null
  #seen: Watched | null = null

  constructor(cwd: string, config: string | undefined, pause: Pause = paused) {
    this.#cwd = cwd
    this.#config = config
    this.#pause = pause
  }

  /** From here on what changes is a change; without an invocation only the configuration is looked at. */
  async begin(invocation: Invocation | null): Promise<void> {
    this.#invocation = invocation
    this.#seen = await this.#look()
  }

  /** Resolves when something changed and then stayed as it is. */
  async change(signal: AbortSignal): Promise<Change> {
    let before = this.#seen!
    for (;;) {
      const startedMs = performance.now()
      const now = await this.#look()
      const isQuiet = differences(before, now).length === 0
      const files = differences(this.#seen!, now)
      if (isQuiet && files.length > 0) return { files, models: concerned(this.#seen!, now) }
      before = now
      await this.#pause(Math.max(EVERY_MS, (performance.now() - startedMs) / SHARE), signal)
    }
  }

  async #look(): Promise<Watched> {
    const models = new Map<string, Stamps>()
    for (const path of this.#modelPaths())
      models.set(path, await stampsOf([path, ...(await this.#externalFiles(path))]))
    return { models, others: await stampsOf([...this.#configs(), ...otherFiles(this.#invocation)]) }
  }

  #configs(): string[] {
    const names = this.#config === undefined ? CONFIG_NAMES : [this.#config]
    return names.map((name) => resolve(this.#cwd, name))
  }

  #modelPaths(): string[] {
    if (!this.#invocation) return []
    try {
      return discoverModels(this.#invocation.paths, this.#cwd).map(({ path }) => path)
    } catch (error) {
      if (error instanceof UsageError) return []
      throw error
    }
  }

  /** A model is read again only when its file has changed. */
  async #externalFiles(path: string): Promise<readonly string[]> {
    const stamp = await stampOf(path)
    const known = this.#external.get(path)
    if (known?.stamp === stamp) return known.files
    const files = await readModel(path).then(
      ({ externalFiles }) => externalFiles.map((file) => file.path),
      (error: unknown) => {
        if (error instanceof FormatError || isAbsent(error)) return []
        throw error
      },
    )
    this.#external.set(path, { stamp, files })
    return files
  }
}

/** Models that targets run instead, their tools, files that describe their chips, files that inputs are read from, and what is expected to fail. */
function otherFiles(invocation: Invocation | null): string[] {
  if (!invocation) return []
  const { cwd, targets, loaded, values } = invocation
  const sides = [...targets.targets, ...(targets.reference ? [targets.reference] : []), ...targets.otherReferences]
  const models = sides.map(({ options }) => options.model)
  const hardware = sides.flatMap(({ files = {} }) => Object.values(files).map(({ path }) => path))
  const tools = toolFiles(invocation)
  const policies = Object.values(loaded.config.inputs ?? {}).flatMap((settings) => Object.values(settings))
  const inputs = policies.map((policy) => (typeof policy === 'object' && 'file' in policy ? policy.file : undefined))
  const given = values.input.map((text) => text.slice(text.indexOf('=') + 1))
  const { path: expected } = expectedPlace(values.expected, loaded.path, cwd)
  return [...models, ...hardware, ...tools, ...inputs, ...given, expected].flatMap((path) =>
    typeof path === 'string' ? [resolve(cwd, path)] : [],
  )
}

/** Of the toolchains under test: whoever builds a compiler wants to see what that changed. */
function toolFiles({ targets, toolchains, environment }: Invocation): string[] {
  const names = targets.targets.filter(({ runtime }) => schemaOf(runtime).describedIn === 'toolchains')
  return [...new Set(names.map(({ device }) => device))].flatMap((name) => {
    try {
      return filesOfToolchain(toolchains[name]!, environment)
    } catch (error) {
      // What is not there makes its cases an error, and cannot be looked at.
      if (error instanceof WorkerFailure || error instanceof StageError) return []
      throw error
    }
  })
}

async function stampsOf(paths: readonly string[]): Promise<Stamps> {
  return new Map(await Promise.all(paths.map(async (path) => [path, await stampOf(path)] as const)))
}

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch (error) {
    if (isAbsent(error)) return 'absent'
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

function differences(before: Watched, after: Watched): string[] {
  return [...differing(before.others, after.others), ...differing(flat(before.models), flat(after.models))]
}

const flat = (models: Watched['models']): Stamps => new Map([...models.values()].flatMap((stamps) => [...stamps]))

function differing(before: Stamps, after: Stamps): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => (before.get(path) ?? 'absent') !== (after.get(path) ?? 'absent'))
}

function concerned(before: Watched, after: Watched): string[] | null {
  if (differing(before.others, after.others).length > 0) return null
  const changed = [...after.models].filter(
    ([path, stamps]) => differing(before.models.get(path) ?? new Map(), stamps).length > 0,
  )
  return changed.length > 0 ? changed.map(([path]) => path) : null
}
