import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../../../test/support/events.ts'
import type { Result } from '../../domain/result.ts'
import type { RunHeader } from '../../domain/run.ts'
import { bootId } from '../../files/disk/process-identity.ts'
import { ulid } from '../../files/disk/ulid.ts'
import { freshFolder, tinyResult } from '../testing/tiny-suite.ts'
import { latestRun, listRuns, readRun } from './read-run.ts'
import { type NewRun, RunRecord } from './record.ts'
import { summarise } from './summary.ts'

const newRun = (...ids: string[]): NewRun => ({
  shard: null,
  environment: { node: 'v20' },
  options: { seed: 0 },
  plan: { digest: 'd', cases: ids, selected: ids },
})

async function finished(...ids: string[]): Promise<string> {
  const record = await RunRecord.create(freshFolder(), newRun(...ids))
  const results = ids.map((id) => tinyResult(id))
  for (const result of results) record.append(result)
  await record.finish({ state: 'complete', summary: summarise(results, 5, {}) })
  return record.folder
}

function editHeader(folder: string, change: Partial<Record<keyof RunHeader, unknown>>): void {
  const path = join(folder, 'run.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }))
}

const ODD: Result = tinyResult('odd', {
  verdict: 'fail',
  metrics: [
    { name: 'max_abs', direction: 'lower', value: Number.NaN, threshold: 0.1, provenance: 'table', count: 3 },
    { name: 'snr_db', direction: 'higher', value: Infinity, threshold: -Infinity, count: 3 },
    { name: 'cosine', direction: 'higher', value: null, reason: 'all zero', count: 0 },
  ],
  outputs: [
    {
      name: 'y',
      dtype: 'int64',
      shape: [2],
      verdict: 'fail',
      rule: 'exact',
      flags: [],
      metrics: [{ name: 'max_rel', direction: 'lower', value: Infinity, count: 1 }],
      mismatches: null,
      worst: [{ tensor: 'y', index: [1], reference: 'NaN', target: '9007199254740993', error: Infinity, allowed: 0 }],
    },
  ],
  worst: [{ tensor: 'y', index: [1], reference: 'Infinity', target: 'NaN', error: Number.NaN, allowed: Infinity }],
  curves: [
    {
      name: 'loss',
      verdict: 'fail',
      steps: [1, 2],
      reference: [Number.NaN, Infinity],
      target: [[Number.NEGATIVE_INFINITY, null]],
      low: [null, Number.NEGATIVE_INFINITY],
      high: [Infinity, 0],
      noise: { mean: [Number.NaN], deviation: [Infinity] },
    },
  ],
  band: [{ output: 'y', relL2: Number.NaN, maxAbs: Infinity, by: 'ulp', samples: 3, margin: 1 }],
  measurements: { threads: 2 },
})

const METRIC = { name: 'n', direction: 'lower', value: 1, count: 1 }
const CURVE = { name: 'loss', verdict: 'pass', steps: [], reference: [], target: [], low: [], high: [] }

describe('a record of a stranger', () => {
  test.each<[string, Record<string, unknown>]>([
    ['environment', { environment: null }],
    ['environment.cpu', { environment: { cpu: ['x'] } }],
    ['environment.cpu', { environment: { cpu: 'x'.repeat(4001) } }],
    ['environment', { environment: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [i, ''])) }],
    ['options', { options: null }],
    ['plan.cases.0', { plan: { digest: '', cases: [1], selected: [] } }],
    ['shard.count', { shard: { index: 1, count: 1e9 } }],
    ['shard.count', { shard: { index: 1, count: 1e15 } }],
    ['shard.index', { shard: { index: 0.5, count: 2 } }],
    ['shard', { shard: { index: 3, count: 2 } }],
    ['startedAt', { startedAt: 'soon' }],
    ['summary.counts.fail', { summary: { counts: { fail: 'x' } } }],
  ])('is refused for its %s', async (field, change) => {
    const folder = await finished('a')
    editHeader(folder, change)
    await expect(readRun(folder)).rejects.toThrow(`${join(folder, 'run.json')}: ${field}: `)
  })

  test.each<[string, Record<string, unknown>]>([
    ['metrics.0', { metrics: [null] }],
    ['metrics.0.name', { metrics: [{ ...METRIC, name: undefined }] }],
    ['outputs.0', { outputs: [null] }],
    ['outputs.0.shape', { outputs: [{ name: 'y', dtype: null, shape: 'x' }] }],
    ['steps.0', { steps: [null] }],
    ['artifacts.0', { artifacts: [null] }],
    ['flags.0', { flags: [{}] }],
    ['reason', { reason: {} }],
    ['error.argv', { error: { stage: 'run', message: '', argv: 'x' } }],
    ['curves.0', { curves: ['x'] }],
    ['curves.0.low.0', { curves: [{ ...CURVE, low: ['x'] }] }],
    ['part.op', { part: { of: 'x', op: 1, place: 0 } }],
    ['band.0.relL2', { band: [{ output: 'y', relL2: null }] }],
    ['texts.0.lines', { texts: [{ title: 'x', lines: null }] }],
    ['measurements', { measurements: [] }],
    ['durationsMs.run', { durationsMs: { run: 'x' } }],
    ['expected.entry', { expected: { outcome: 'met' } }],
  ])('is refused for the %s of a result', async (field, change) => {
    const folder = await finished('a')
    addLine(folder, change)
    await expect(readRun(folder)).rejects.toThrow(`${join(folder, 'results.jsonl')} line 2: ${field}: `)
  })

  test('is refused for a line of over 16 MiB, whether it ends or not', async () => {
    const folder = await finished('a')
    appendFileSync(join(folder, 'results.jsonl'), ' '.repeat(2 ** 25))
    await expect(readRun(folder)).rejects.toThrow('results.jsonl line 2 is longer than 16.0 MiB; the record is damaged')
  })

  test('is read whole where a line is long, with a character between two chunks', async () => {
    const folder = await finished('a', 'b')
    const path = join(folder, 'results.jsonl')
    const [first = ''] = readFileSync(path, 'utf8').split('\n')
    const long = JSON.stringify({ ...tinyResult('b'), reason: 'é'.repeat(2 ** 22) })
    writeFileSync(path, `${first}\n${long}\n`)
    expect((await readRun(folder)).results[1]!.reason).toBe('é'.repeat(2 ** 22))
  })

  test.each(['run.json', 'results.jsonl'])('is refused where %s is a device', async (name) => {
    const folder = await finished('a')
    rmSync(join(folder, name))
    symlinkSync('/dev/zero', join(folder, name))
    await expect(readRun(folder)).rejects.toThrow(`${name} is not a regular file`)
  })

  test('keeps what a later version added', async () => {
    const folder = await finished('a', 'x')
    writeFileSync(join(folder, 'results.jsonl'), '')
    addLine(folder, { colour: 'red', metrics: [{ ...METRIC, unit: 'm' }] })
    expect((await readRun(folder)).results[0]).toMatchObject({ colour: 'red', metrics: [{ unit: 'm' }] })
  })
})

describe('a record', () => {
  test('comes back as it was written, NaN and infinities included, texts that look like them as texts', async () => {
    const record = await RunRecord.create(freshFolder(), newRun('odd'))
    record.append(ODD)
    await record.finish({ state: 'complete', summary: summarise([ODD], 5, {}) })
    const run = await readRun(record.folder)
    expect(run.results).toStrictEqual([ODD])
    expect(run).toMatchObject({ complete: true, header: { state: 'complete', options: { seed: 0 } } })
    expect(readFileSync(join(record.folder, 'results.jsonl'), 'utf8')).toContain('"value":"NaN"')
  })

  test('of a run that goes on is readable and says so', async () => {
    const record = await RunRecord.create(freshFolder(), newRun('a', 'b'))
    record.append(tinyResult('a'))
    const run = await readRun(record.folder)
    expect(run.complete).toBe(false)
    expect(run.why).toBe(`it is still running (process ${process.pid}); 1 of 2 cases judged`)
    expect(run.results.map((result) => result.id)).toEqual(['a'])
  })

  test.runIf(process.platform === 'linux')('of a run that goes on says so whatever the clock was set to', async () => {
    const record = await RunRecord.create(freshFolder(), newRun('a'))
    editHeader(record.folder, { startedAt: new Date(Date.now() - 30 * 24 * 3600_000).toISOString() })
    expect((await readRun(record.folder)).why).toMatch(/^it is still running/)
    editHeader(record.folder, { startTicks: 1 })
    expect((await readRun(record.folder)).why).toMatch(/^its process \d+ ended without finishing the record/)
  })

  test('of a process that is gone says so', async () => {
    const record = await RunRecord.create(freshFolder(), newRun('a'))
    editHeader(record.folder, { pid: 2 ** 22 + 1 })
    expect((await readRun(record.folder)).why).toMatch(/ended without finishing the record .*; 0 of 1 cases judged/)
    editHeader(record.folder, { bootId: 'another' })
    expect((await readRun(record.folder)).why).toMatch(/on another machine/)
  })

  test.each(['{"id":"b","suite":"ti', '\n'.slice(1), '{"id":"b"}', 'é'.slice(0, 1)])(
    'ignores the torn last line %j',
    async (torn) => {
      const folder = await finished('a')
      appendFileSync(join(folder, 'results.jsonl'), torn)
      expect((await readRun(folder)).results.map((result) => result.id)).toEqual(['a'])
    },
  )

  test('that was cut says how much is left, even if it says it is complete', async () => {
    const folder = await finished('a', 'b')
    const path = join(folder, 'results.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -1))
    expect(await readRun(folder)).toMatchObject({ complete: false, why: '1 of 2 cases judged' })
  })

  test('gives results in plan order, whatever order they came in', async () => {
    const record = await RunRecord.create(freshFolder(), newRun('a', 'b', 'c'))
    for (const id of ['c', 'a', 'b']) record.append(tinyResult(id))
    expect((await readRun(record.folder)).results.map((result) => result.id)).toEqual(['a', 'b', 'c'])
  })

  test.each<[string, (folder: string) => void, RegExp]>([
    ['has no header', (at) => rmSync(join(at, 'run.json')), /no run record in/],
    ['has a torn header', (at) => writeFileSync(join(at, 'run.json'), '{"schema":'), /is no JSON/],
    [
      'is of another version',
      (at) => editHeader(at, { schema: 'assay/run@9' }),
      /"assay\/run@9", this version reads "assay\/run@1"/,
    ],
    ['has a strange state', (at) => editHeader(at, { state: 'fine' }), /run.json: state: Invalid option/],
    ['has no plan', (at) => editHeader(at, { plan: null }), /run.json: plan: .*expected object, received null/],
    ['has no results', (at) => rmSync(join(at, 'results.jsonl')), /there is no .*results.jsonl/],
    [
      'has a broken line',
      (at) => appendFileSync(join(at, 'results.jsonl'), '{"id":\n'),
      /results.jsonl line 2 is no JSON/,
    ],
    [
      'has a line of another kind',
      (at) => appendFileSync(join(at, 'results.jsonl'), '{"id":"x"}\n'),
      /line 2: suite: .*expected string/,
    ],
    [
      'has null for a line',
      (at) => appendFileSync(join(at, 'results.jsonl'), 'null\n'),
      /line 2: .*expected object, received null/,
    ],
    ['has an unknown verdict', (at) => addLine(at, { id: 'x', verdict: 'fine' }), /line 2: verdict: Invalid option/],
    [
      'has a metric that is no number',
      (at) => addLine(at, { id: 'x', metrics: [{ name: 'n', direction: 'lower', value: 'much', count: 1 }] }),
      /line 2: metrics.0.value: found "much" where a number belongs/,
    ],
    ['has a result twice', (at) => addLine(at, { id: 'a' }), /two results for a/],
    ['has a result of another plan', (at) => addLine(at, { id: 'x' }), /does not list, for x/],
  ])('is refused when it %s', async (_what, damage, message) => {
    const folder = await finished('a')
    damage(folder)
    await expect(readRun(folder)).rejects.toThrow(message)
  })

  test('that is being made does not show; what the dead began is removed', async () => {
    const runsFolder = freshFolder()
    const dead = join(runsFolder, `.new-${2 ** 22 + 1}.${bootId()}.${ulid()}`)
    mkdirSync(dead)
    expect(await listRuns(runsFolder)).toEqual([])
    await RunRecord.create(runsFolder, newRun())
    expect(existsSync(dead)).toBe(false)
  })

  test('shows a sign of life again and again, and is whole each time', async () => {
    const record = await RunRecord.create(freshFolder(), newRun('a'), 5)
    const seen = new Set<string>()
    await until(async () => {
      return seen.add((await readRun(record.folder)).header.heartbeatAt).size >= 4
    }, 'it has shown four')
    await record.finish({ state: 'interrupted', summary: null })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect((await readRun(record.folder)).header.state).toBe('interrupted')
  })

  test('lists run folders by age', async () => {
    const runsFolder = freshFolder()
    expect(await latestRun(join(runsFolder, 'nowhere'))).toBeNull()
    const folders: string[] = []
    for (let i = 0; i < 3; i++) folders.push((await RunRecord.create(runsFolder, newRun())).folder)
    writeFileSync(join(runsFolder, 'notes.txt'), '')
    expect(await listRuns(runsFolder)).toEqual(folders)
    expect(await latestRun(runsFolder)).toBe(folders[2])
    expect(readdirSync(folders[0]!).sort()).toEqual(['artifacts', 'results.jsonl', 'run.json'])
  })

  test('in a place that cannot be written is refused in words', async () => {
    const file = join(freshFolder(), 'file')
    writeFileSync(file, '')
    await expect(RunRecord.create(join(file, 'runs'), newRun())).rejects.toThrow(/choose another folder/)
  })
})

function addLine(folder: string, change: Record<string, unknown>): void {
  appendFileSync(join(folder, 'results.jsonl'), `${JSON.stringify({ ...tinyResult('x'), ...change })}\n`)
}
