import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../domain/errors.ts'
import { expectedPlace } from '../runs/expected/expected-place.ts'
import type { WatchedFiles } from '../suites/contract.ts'
import { CONFIG_NAMES } from './config/config-file.ts'
import type { Invocation } from './invocation.ts'

/** File → when it changed last and how large it is. */
type Stamps = ReadonlyMap<string, string>

/** What a verdict depends on and a person may change. */
interface Watched {
  readonly models: ReadonlyMap<string, WatchedModel>
  /** The configuration and whatever else all models depend on. */
  readonly others: Stamps
}

interface WatchedModel {
  /** Of its file and of its external data. */
  readonly stamps: Stamps
  /** The suites that judge it. */
  readonly suites: readonly string[]
}

export interface Change {
  readonly files: readonly string[]
  /** Only these models are concerned; null: all. */
  readonly models: readonly string[] | null
  /** The suites that judge them; null: all. */
  readonly suites: readonly string[] | null
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
  #looks: readonly Look[] = []
  #expected: string | null = null
  #seen: Watched | null = null

  constructor(cwd: string, config: string | undefined, pause: Pause = paused) {
    this.#cwd = cwd
    this.#config = config
    this.#pause = pause
  }

  /** From here on what changes is a change; without an invocation only the configuration is looked at. */
  async begin(invocation: Invocation | null): Promise<void> {
    this.#looks = invocation ? await looksOf(invocation) : []
    this.#expected = invocation && expectedFile(invocation)
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
      if (isQuiet && files.length > 0) return { files, ...concerned(this.#seen!, now) }
      before = now
      await this.#pause(Math.max(EVERY_MS, (performance.now() - startedMs) / SHARE), signal)
    }
  }

  async #look(): Promise<Watched> {
    const models = new Map<string, WatchedModel>()
    const others = [...this.#configs(), ...(this.#expected === null ? [] : [this.#expected])]
    for (const { suite, look } of this.#looks) {
      const found = await look()
      for (const [path, files] of found.models) {
        models.set(path, { stamps: await stampsOf(files), suites: [...(models.get(path)?.suites ?? []), suite] })
      }
      others.push(...found.others)
    }
    return { models, others: await stampsOf(others) }
  }

  #configs(): string[] {
    const names = this.#config === undefined ? CONFIG_NAMES : [this.#config]
    return names.map((name) => resolve(this.#cwd, name))
  }
}

interface Look {
  readonly suite: string
  readonly look: () => Promise<WatchedFiles>
}

/** What the suites of an invocation look at; those that ask for nothing to be watched are refused. */
async function looksOf({ asked }: Invocation): Promise<Look[]> {
  const unwatched = asked.find(({ work }) => !work.watches)
  if (unwatched && asked.every(({ work }) => !work.watches)) {
    throw new UsageError('option', `--watch has nothing to watch for assay ${unwatched.kind.command.name}`)
  }
  const looks = asked.map(async ({ kind, work, asked: what }) => {
    const look = await work.watches?.(what)
    return look ? [{ suite: kind.name, look }] : []
  })
  return (await Promise.all(looks)).flat()
}

function expectedFile({ values, loaded, cwd }: Invocation): string {
  return expectedPlace(values.expected, loaded.path, cwd).path
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

const flat = (models: Watched['models']): Stamps => new Map([...models.values()].flatMap(({ stamps }) => [...stamps]))

function differing(before: Stamps, after: Stamps): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => (before.get(path) ?? 'absent') !== (after.get(path) ?? 'absent'))
}

const ALL = { models: null, suites: null }

function concerned(before: Watched, after: Watched): Pick<Change, 'models' | 'suites'> {
  if (differing(before.others, after.others).length > 0) return ALL
  const changed = [...after.models].filter(
    ([path, { stamps }]) => differing(before.models.get(path)?.stamps ?? new Map(), stamps).length > 0,
  )
  if (changed.length === 0) return ALL
  const suites = new Set(changed.flatMap(([, model]) => model.suites))
  return { models: changed.map(([path]) => path), suites: [...suites] }
}
