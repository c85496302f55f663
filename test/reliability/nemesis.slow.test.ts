import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { randomFrom } from '../../src/compare/testing/random.ts'
import { temporaryFolder as workOf } from '../../src/runs/cache/cache-upkeep.ts'
import { assay, assayJson, type JsonReport, project, root, temporaryFolder } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { describeWith } from '../support/needs.ts'
import { affineModel } from '../support/small-models.ts'
import { printFigures } from './figures.ts'
import { jobSeed, replayCommand } from './seed.ts'

const FILE = 'test/reliability/nemesis.slow.test.ts'
const MODELS = Object.fromEntries([1, 2, 3, 4, 5, 6].map((scale) => [`models/m${scale}.onnx`, affineModel(scale)]))
/** Not the reference, and as fast. */
const TARGET = 'ort:cpu,threads=2'
const ROUNDS = 40
const CLOCK_STEPS_S = [-3600, -600, -60, -15, 15, 60, 600, 3600]
const LEAP_MS = 3600_000

/** Verdict and numbers of each case, or what went wrong. */
function historyOf({ results }: Pick<JsonReport, 'results'>): string[] {
  return results.map(({ id, verdict, error, metrics }) => {
    return `${id} ${verdict} ${error?.message ?? metrics.map(({ name, value }) => `${name}=${value}`).join()}`
  })
}

/** Nothing where the folder has just been removed. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A process that judges its project for ever, with a cache that others use too. */
class Judge {
  readonly history: string[][] = []
  readonly complaints: string[] = []
  readonly #argv: readonly string[]
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess
  #offsetMs = 0

  constructor(argv: readonly string[], env: NodeJS.ProcessEnv) {
    this.#argv = argv
    this.#env = env
    this.#child = this.#start()
  }

  #start(): ChildProcess {
    const program = join(root, 'test/reliability/judge-for-ever.mjs')
    const child = spawn(process.execPath, [program, ...this.#argv], {
      env: this.#env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin!.on('error', () => {})
    child.stdin!.write(`${this.#offsetMs}\n`)
    createInterface(child.stdout!).on('line', (line) => this.#take(JSON.parse(line)))
    return child
  }

  #take({ code, report, stderr }: { code: number; report: string; stderr: string }): void {
    if (report === '') this.complaints.push(`exit ${code}: ${stderr}`)
    else this.history.push(historyOf(JSON.parse(report)))
  }

  get runs(): number {
    return this.history.length + this.complaints.length
  }

  setClock(offsetMs: number): void {
    this.#offsetMs = offsetMs
    this.#child.stdin!.write(`${offsetMs}\n`)
  }

  /** Stops it while it makes something, in a folder of its own that others must leave alone. */
  async stopAtWork(cache: string): Promise<void> {
    for (;;) {
      await until(() => this.#makes(cache) !== null, 'it works')
      const folder = this.#makes(cache)
      this.#child.kill('SIGSTOP')
      if (folder !== null && existsSync(folder)) return
      this.goOn()
      await pause(1)
    }
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  #makes(cache: string): string | null {
    const own = namesIn(workOf(cache)).filter((name) => name.startsWith(`${this.#child.pid}.`))
    const benches = own.map((name) => join(workOf(cache), name))
    return benches.flatMap((bench) => namesIn(bench).map((name) => join(bench, name)))[0] ?? null
  }

  async end(): Promise<void> {
    const gone = once(this.#child, 'close')
    this.#child.kill('SIGKILL')
    await gone
  }

  async kill(): Promise<void> {
    await this.end()
    this.#child = this.#start()
  }
}

const moreRuns = (judge: Judge, count = 1) => {
  const wanted = judge.runs + count
  return until(() => judge.runs >= wanted, 'another run has ended')
}

interface Scene {
  readonly judges: readonly [Judge, Judge]
  readonly random: () => number
  readonly cache: string
  readonly clock: { offsetMs: number }
  readonly clearCache: () => Promise<unknown>
}

/** One clock for all, as on one machine. */
function setClocks({ judges, clock }: Scene, offsetMs: number): void {
  clock.offsetMs = offsetMs
  for (const judge of judges) judge.setClock(offsetMs)
}

/** What the nemesis does in a round; `one` is whom it picked. */
const DEEDS: Readonly<Record<string, (one: Judge, other: Judge, scene: Scene) => Promise<unknown>>> = {
  kill: (one) => one.kill(),
  stop: async (one, other, { cache }) => {
    await one.stopAtWork(cache)
    await moreRuns(other, 2)
    one.goOn()
  },
  clear: (_one, _other, { clearCache }) => clearCache(),
  clock: async (_one, _other, scene) => {
    const seconds = CLOCK_STEPS_S[Math.floor(scene.random() * CLOCK_STEPS_S.length)]!
    setClocks(scene, seconds * 1000)
  },
  // Later than ever before, so that whatever was named before it looks old.
  leap: async (one, other, scene) => {
    await one.stopAtWork(scene.cache)
    setClocks(scene, scene.clock.offsetMs + LEAP_MS)
    await moreRuns(other, 2)
    one.goOn()
  },
}

/** Two processes with one cache, and somebody who disturbs them; gives what they found that a run alone does not. */
async function disturb(rounds: number, seed: number, deeds: readonly string[], planted?: NodeJS.ProcessEnv) {
  const random = randomFrom(seed)
  const cache = temporaryFolder('shared cache')
  const args = (folder: string) => [folder, 'test', '--target', TARGET, '--cache-dir', cache, '--cache-size', '20kb']
  const folders = [project(MODELS), project(MODELS)] as const
  const alone = historyOf(await assayJson(['test', '--target', TARGET], project(MODELS), { ASSAY_SCOPE: undefined }))
  const [a, b] = folders.map((folder) => new Judge(args(folder), { ...process.env, ...planted })) as [Judge, Judge]
  const clearCache = () => assay(['cache', 'clear', '--cache-dir', cache], folders[0])
  const scene: Scene = { judges: [a, b], random, cache, clock: { offsetMs: 0 }, clearCache }
  const histories = () => [...a.history, ...b.history]
  const differing = () => histories().flatMap((history) => history.filter((line, i) => line !== alone[i]))
  const complaints = () => [...a.complaints, ...b.complaints]
  const isFound = () => differing().length + complaints().length > 0
  try {
    await Promise.all([moreRuns(a), moreRuns(b)])
    for (let round = 0; round < rounds && !(planted && isFound()); round++) {
      const [one, other] = random() < 0.5 ? [a, b] : [b, a]
      await pause(random() * 100)
      await DEEDS[deeds[round % deeds.length]!]!(one, other, scene)
      await Promise.all([moreRuns(one), moreRuns(other)])
    }
  } finally {
    await Promise.all([a.end(), b.end()])
  }
  return { runs: histories().length, cases: alone.length, differing: differing(), complaints: complaints() }
}

describeWith('linux', process.platform === 'linux', 'a nemesis', () => {
  test('that kills, stops, clears the cache and sets the clock changes no verdict of two processes with one cache', async () => {
    const seed = jobSeed()
    const found = await disturb(ROUNDS, seed, ['clock', 'kill', 'clear', 'stop', 'leap'])
    const { runs, cases, differing, complaints } = found
    const figures = {
      rounds: ROUNDS,
      runs,
      'differing verdicts': differing.length,
      complaints: complaints.length,
      seed,
    }
    printFigures('nemesis', { ...figures, again: replayCommand(FILE, seed) })
    expect(cases).toBeGreaterThan(6)
    expect([...differing, ...complaints]).toEqual([])
  }, 1_800_000)

  test('finds a program that tells by the clock who lives', async () => {
    const found = await disturb(40, 1, ['leap'], { TELL_LIFE_BY_CLOCK: '1' })
    expect(found.differing.length + found.complaints.length).toBeGreaterThan(0)
  }, 900_000)
})
