import { type SpawnOptionsWithStdioTuple, type StdioNull, type StdioPipe, spawn } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { latestRun, listRuns, readRun } from '../../src/runs/record/read-run.ts'
import { assay, assayJson, ended, main, type Ran, root, temporaryFolder } from '../support/assay.ts'
import { printFigures } from './figures.ts'
import { writeTwoCases } from './two-cases.ts'

const ARGS = ['test', 'cases', '--target', 'ort:cpu', '-j', '1', '--keep', '--scope', 'full']
const here = (name: string) => join(root, 'test/reliability', name)

interface Plan {
  readonly at?: number
  readonly cut?: 'drop' | 'half'
  readonly tickMs?: number
  readonly inPlace?: boolean
  readonly forgetsSync?: boolean
  readonly log?: string
}

/** Runs a program whose write number `at` is its last. */
function runUntil(plan: Plan, argv: readonly string[], cwd: string): Promise<Ran> {
  const order = JSON.stringify({ root: cwd, fault: 'kill', writes: true, at: 0, ...plan })
  const env = { PATH: process.env.PATH, HOME: cwd, NO_COLOR: '1', ASSAY_TEST_IO: order }
  const options: SpawnOptionsWithStdioTuple<StdioNull, StdioPipe, StdioPipe> = {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  }
  return ended(spawn(process.execPath, ['--import', here('faulty-io.mjs'), ...argv], options))
}

const project = temporaryFolder('two-cases')

/** With a record and a cache of an earlier run, which is to stay as it is. */
beforeAll(async () => {
  await writeTwoCases(project)
  expect((await assay(ARGS, project)).code).toBe(1)
})

function copyOf(folder: string): string {
  const copy = temporaryFolder('killed')
  cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

async function writesOf(argv: readonly string[], folder: string): Promise<number> {
  const log = join(temporaryFolder('log'), 'log.json')
  await runUntil({ log }, argv, folder)
  return (JSON.parse(readFileSync(log, 'utf8')) as unknown[]).length
}

const JUDGE = [main, ...ARGS, '--recompute']

/** Kills one run in a copy of the project, looks at what it left, and judges again there. */
async function problemsOfKill(plan: Plan): Promise<string[]> {
  const folder = copyOf(project)
  const ran = await runUntil(plan, JUDGE, folder)
  if (ran.signal !== 'SIGKILL') return []
  const problems = [...(await problemsOfRecords(folder, plan, ran)), ...(await problemsOfNextRun(folder))]
  return problems.map((problem) => `write ${plan.at}${plan.cut ? ` (${plan.cut})` : ''}: ${problem}`)
}

async function problemsOfRecords(folder: string, plan: Plan, { stdout }: Ran): Promise<string[]> {
  const runs = join(folder, '.assay/runs')
  const [earlier, killed] = await listRuns(runs)
  const problems: string[] = []
  for (const name of ['run.json', 'results.jsonl']) {
    const before = readFileSync(join(project, '.assay/runs', earlier!.slice(runs.length), name))
    if (!readFileSync(join(earlier!, name)).equals(before)) problems.push(`the earlier ${name} changed`)
  }
  if (killed === undefined) return stdout.includes('[1/2]') ? [...problems, 'no record of what was reported'] : problems
  try {
    const kept = (await readRun(killed)).results.map(({ id, verdict }) => `${verdict} ${id}`)
    const said = [...stdout.matchAll(/^\[\d\/2\] \S (\w+) +(\S+)/gm)].map(([, verdict, id]) => `${verdict} ${id}`)
    // All of such a short run happens in its last second.
    if (!plan.cut) problems.push(...said.filter((line) => !kept.includes(line)).map((line) => `lost: ${line}`))
  } catch (error) {
    problems.push(`unreadable: ${String(error)}`)
  }
  return problems
}

async function problemsOfNextRun(folder: string): Promise<string[]> {
  const { results, stderr } = await assayJson(ARGS, folder)
  const found = results.map(({ verdict }) => verdict).join()
  const problems = found === 'pass,fail' ? [] : [`the next run gives ${found} ${stderr}`]
  const left = readdirSync(join(folder, '.assay/runs')).filter((name) => name.startsWith('.'))
  const tools = readdirSync(join(folder, '.assay/cache/tmp'))
  return [...problems, ...[...left, ...tools].map((name) => `${name} stays`)]
}

/** Two at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<string[]>): Promise<string[]> {
  const queue = [...items]
  const found: string[] = []
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) found.push(...(await work(item)))
  }
  await Promise.all([lane(), lane()])
  return found
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

test('whichever write is the last, by a kill or a power cut, records are whole and the next run judges alike', async () => {
  const writes = await writesOf(JUDGE, copyOf(project))
  const kills = await eachOf(numbers(writes), (at) => problemsOfKill({ at }))
  const cuts = await eachOf(numbers(writes), (at) => problemsOfKill({ at, cut: at % 2 === 0 ? 'drop' : 'half' }))
  printFigures('every write is the last', {
    writes,
    'problems after kill -9': kills.length,
    'problems after a power cut': cuts.length,
  })
  expect(writes).toBeGreaterThan(30)
  expect([...kills, ...cuts]).toEqual([])
}, 1_800_000)

test('a header that is written in its place is found', async () => {
  const writes = await writesOf([...JUDGE], copyOf(project))
  const found = await eachOf(numbers(writes), async (at) => {
    return at < 12 || at > writes - 6 ? problemsOfKill({ at, inPlace: true }) : []
  })
  expect(found.join('\n')).toMatch(/unreadable: FormatError: .*run\.json is no JSON/)
}, 600_000)

const TICK_MS = 50
const CASES = 70

/** Cuts the power at a write of a run of many cases; every line that is older than a second has to be there. */
async function problemsOfCut(plan: Plan & { at: number }): Promise<string[]> {
  const folder = temporaryFolder('long')
  const { stdout } = await runUntil({ tickMs: TICK_MS, ...plan }, [here('long-run.mjs'), folder, String(CASES)], folder)
  const newest = await latestRun(join(folder, 'runs'))
  const old = [...stdout.matchAll(/^(\S+) (\d+)$/gm)].filter(([, , atMs]) => Number(atMs) <= plan.at * TICK_MS - 1000)
  try {
    const kept = new Set(newest === null ? [] : (await readRun(newest)).results.map(({ id }) => id))
    return old.filter(([, id]) => !kept.has(id!)).map(([, id]) => `write ${plan.at}: lost ${id}`)
  } catch (error) {
    return [`write ${plan.at}: unreadable: ${String(error)}`]
  }
}

test('a power cut costs at most the last second of a long run', async () => {
  const folder = temporaryFolder('long')
  const writes = await writesOf([here('long-run.mjs'), folder, String(CASES)], folder)
  const moments = numbers(writes).filter((at) => at % 3 === 1)
  const found = await eachOf(moments, (at) => problemsOfCut({ at, cut: at % 2 === 0 ? 'drop' : 'half' }))
  printFigures('power cut', {
    'cases in a run': CASES,
    moments: moments.length,
    'lost older than a second': found.length,
  })
  expect(found).toEqual([])
}, 1_800_000)

test('results that are synced at the end alone are found', async () => {
  expect(await problemsOfCut({ at: 60, cut: 'drop' })).toEqual([])
  expect((await problemsOfCut({ at: 60, cut: 'drop', forgetsSync: true })).length).toBeGreaterThan(0)
})
