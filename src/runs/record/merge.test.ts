import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../domain/result.ts'
import { executeRun, type RunRequest } from '../execute/execute.ts'
import { FAIL, freshFolder, makeKey, PASS, runRequest, tinyCase, tinySuite } from '../testing/tiny-suite.ts'
import { mergeRuns } from './merge.ts'
import { readRun } from './read-run.ts'

const CASES = ['e', 'a', 'd', 'b', 'c', 'f', 'g'].map((id) => tinyCase(id, { affinity: id < 'c' ? 'shared' : '' }))

/** Fails for one case and keeps a file for it. */
const SUITE = tinySuite(CASES, async (c, lab) => {
  const product = await lab.step({ title: 'run', stage: 'run', key: makeKey(c.id) }, (at) =>
    writeFile(join(at, 'y'), c.id),
  )
  if (c.id !== 'd') return { ...PASS, metrics: [{ name: 'max_abs', direction: 'lower', value: Number.NaN, count: 1 }] }
  await lab.keep('y.bin', join(product.folder, 'y'))
  return FAIL
})

async function runShard(index: number, count: number, more: Partial<RunRequest> = {}): Promise<string> {
  const environment = { node: 'v20', cpu: `machine ${index}` }
  return (await executeRun(runRequest(freshFolder(), SUITE, { shard: { index, count }, environment, ...more }))).folder
}

const threeShards = () => Promise.all([1, 2, 3].map((index) => runShard(index, 3)))

function essence({ id, verdict, metrics, artifacts, coverage }: Result) {
  return { id, verdict, metrics, artifacts, coverage }
}

describe('merging shards', () => {
  test('gives the same as the run without shards', async () => {
    const whole = await executeRun(runRequest(freshFolder(), SUITE))
    const merged = await mergeRuns((await threeShards()).reverse(), freshFolder())
    expect(merged.results.map(essence)).toEqual(whole.results.map(essence))
    expect(merged.header.plan).toEqual(whole.header.plan)
    expect(merged.header.summary).toMatchObject({ counts: whole.header.summary!.counts, exitCode: whole.exitCode })
    expect(merged.header.summary?.stages.run?.count).toBe(CASES.length)
    const stored = await readRun(merged.folder)
    expect(stored).toMatchObject({ complete: true, header: { state: 'complete', shard: null } })
    expect(stored.results).toEqual(merged.results)
    const [artifact] = merged.results.find(({ id }) => id === 'd')!.artifacts
    expect(readFileSync(join(merged.folder, artifact!.path), 'utf8')).toBe('d')
  })

  test('keeps what was expected, and what is stale', async () => {
    const entry = (id: string) => ({ id, verdict: 'fail' as const, place: 'f.yaml:1' })
    const expected = { entries: [entry('d'), entry('gone*')], today: '2027-03-01' }
    const merged = async (strict: boolean) => {
      const folders = await Promise.all([1, 2, 3].map((index) => runShard(index, 3, { expected, strict })))
      return mergeRuns(folders, freshFolder())
    }
    const { results, header } = await merged(false)
    const whole = await executeRun(runRequest(freshFolder(), SUITE, { expected }))
    expect(results.map(({ expected: seen }) => seen)).toEqual(whole.results.map(({ expected: seen }) => seen))
    expect(header.summary).toMatchObject({
      counts: whole.header.summary!.counts,
      stale: [{ id: 'gone*', place: 'f.yaml:1' }],
      exitCode: 0,
    })
    expect(header.summary?.counts.xfail).toBe(1)
    expect((await merged(true)).header.summary?.exitCode).toBe(1)
  })

  test('is as strict as the shards were', async () => {
    const unsure = tinySuite(['a', 'b'], async (c) => ({ ...PASS, verdict: c.id === 'a' ? 'pass' : 'inconclusive' }))
    const exitCode = async (strict: boolean) => {
      const folders = [
        await runShard(1, 2, { suites: [unsure], strict }),
        await runShard(2, 2, { suites: [unsure], strict }),
      ]
      return (await mergeRuns(folders, freshFolder())).header.summary?.exitCode
    }
    expect([await exitCode(false), await exitCode(true)]).toEqual([0, 1])
  })

  test('knows no facts of an environment but those that are in its record', async () => {
    const odd = await runShard(1, 2, { environment: { constructor: 'odd' } })
    const merged = await mergeRuns([odd, await runShard(2, 2, { environment: {} })], freshFolder())
    expect(merged.header.environment).toEqual({ constructor: 'odd (shard 1/2); (none) (shard 2/2)' })
  })

  test('keeps the differences of many environments short, so that the record can be read', async () => {
    const facts = (index: number) => ({ environment: { cpu: String(index).repeat(3999) } })
    const merged = await mergeRuns([await runShard(1, 2, facts(1)), await runShard(2, 2, facts(2))], freshFolder())
    expect((await readRun(merged.folder)).header.environment.cpu).toMatch(/^1+….*2 \(shard 2\/2\)$/)
  })

  test('notes where the environments differ', async () => {
    const merged = await mergeRuns(await threeShards(), freshFolder())
    const cpu = 'machine 1 (shard 1/3); machine 2 (shard 2/3); machine 3 (shard 3/3)'
    expect(merged.header.environment).toEqual({ node: 'v20', cpu })
    expect(merged.notes).toEqual([`the shards ran in different environments: cpu = ${cpu}`])
  })

  test('refuses a missing shard by name, unless told to go on', async () => {
    const [first, , third] = await threeShards()
    await expect(mergeRuns([first!, third!], freshFolder())).rejects.toThrow(/shard 2\/3 is missing/)
    const merged = await mergeRuns([first!, third!], freshFolder(), { allowMissing: true })
    expect(merged.notes[0]).toBe('shard 2/3 is missing')
    expect(await readRun(merged.folder)).toMatchObject({ complete: false, why: 'shard 2/3 is missing' })
  })

  test('refuses the same shard twice', async () => {
    const [first, second, third] = await threeShards()
    await expect(mergeRuns([first!, second!, third!, second!], freshFolder())).rejects.toThrow(/are both shard 2\/3/)
  })

  test('refuses another plan, and says what differs', async () => {
    const shard = (more: Partial<RunRequest>) => runShard(2, 2, more)
    const first = await runShard(1, 2)
    const other = tinySuite([...CASES.slice(1), tinyCase('z')])
    const merge = async (second: Promise<string>) => mergeRuns([first, await second], freshFolder())
    await expect(merge(shard({ suites: [other] }))).rejects.toThrow(/another plan .* only one of them has the case e/)
    await expect(merge(shard({ select: { keyword: 'not g' } }))).rejects.toThrow(/only one of them has the case g/)
    await expect(merge(shard({ sameForAllShards: { seed: 7 } }))).rejects.toThrow(
      /same cases, but models or options differ/,
    )
    await expect(merge(runShard(2, 3))).rejects.toThrow(/shards 2\/3 and 1\/2; all must have the same count/)
  })

  test('refuses shards that were split by different durations', async () => {
    const durations = new Map(CASES.map((c, i) => [c.id, 10 ** i]))
    const folders = [await runShard(1, 2), await runShard(2, 2, { durations })]
    await expect(mergeRuns(folders, freshFolder())).rejects.toThrow(
      /both have the case .* same --durations|are in no shard/,
    )
  })

  test('refuses a run that is no shard, no run, or nothing', async () => {
    const whole = await executeRun(runRequest(freshFolder(), SUITE))
    await expect(mergeRuns([whole.folder], freshFolder())).rejects.toThrow(/is no shard/)
    await expect(mergeRuns([freshFolder()], freshFolder())).rejects.toThrow(/no run record/)
    await expect(mergeRuns([], freshFolder())).rejects.toThrow(/no run to merge/)
  })

  test('refuses a shard that did not finish; told to go on, it never says that all is well', async () => {
    const [first, second] = [await runShard(1, 2), await runShard(2, 2)]
    const path = join(second, 'run.json')
    const header = { ...JSON.parse(readFileSync(path, 'utf8')), state: 'running', pid: 2 ** 22 + 1, summary: null }
    writeFileSync(path, JSON.stringify(header))
    await expect(mergeRuns([first, second], freshFolder())).rejects.toThrow(/shard 2\/2 is not complete: its process/)
    const merged = await mergeRuns([first, second], freshFolder(), { allowMissing: true })
    expect(merged.header).toMatchObject({ state: 'failed', summary: { exitCode: 3 } })
  })

  test('refuses artifacts that are damaged, missing, links or outside of the record', async () => {
    const damages: [(folder: string, path: string) => void, RegExp][] = [
      [(folder, path) => writeFileSync(join(folder, path), 'other'), /damaged/],
      [(folder, path) => rmSync(join(folder, path)), /missing or no regular file/],
      [becomeLink, /no regular file/],
      [(folder, path) => replaceInResults(folder, path, '../../../etc/passwd'), /no place in a record/],
    ]
    for (const [damage, message] of damages) {
      const folder = await runShard(1, 1)
      const { results } = await readRun(folder)
      damage(folder, results.find(({ id }) => id === 'd')!.artifacts[0]!.path)
      const runsFolder = freshFolder()
      await expect(mergeRuns([folder], runsFolder)).rejects.toThrow(message)
      expect(existsSync(join(runsFolder, 'etc'))).toBe(false)
    }
  })
})

function replaceInResults(folder: string, text: string, by: string): void {
  const path = join(folder, 'results.jsonl')
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(text, by))
}

function becomeLink(folder: string, path: string): void {
  rmSync(join(folder, path))
  symlinkSync('/etc/passwd', join(folder, path))
}
