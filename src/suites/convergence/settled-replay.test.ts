import { chmodSync, rmSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../domain/result.ts'
import type { PlannedTest } from './planned-test.ts'
import { Storage } from './storage/storage.ts'
import { gatherDemo, listVerdicts, renewDemo, replayDemo } from './testing/demo-run.ts'
import { withVariables } from './testing/demo-window.ts'
import { documentedCopy, documentedPlan } from './testing/documented-training.ts'

const READINGS = ['end', 'count']
const ALL_PASS = ['bert/ckpt_0 pass', 'bert/ckpt_4 pass', 'bert/ckpt_9 pass']

/** Gathered once, with the documented configuration; tests work on copies. */
let gathered: PlannedTest
beforeAll(async () => {
  gathered = await documentedPlan()
  expect(await gatherDemo(gathered)).toMatchObject({ verdict: 'captured' })
})

/** A copy as a run of its own sees it, which knows nothing but what is stored; `more`: keys beside the documented ones. */
async function copied(environment: Readonly<Record<string, string>> = {}, more = ''): Promise<PlannedTest> {
  return withVariables(await documentedCopy(gathered, more), environment)
}

function nextRun(planned: PlannedTest, environment = planned.test.environment): PlannedTest {
  const storage = new Storage(planned.storage.folder, planned.test, planned.cwd)
  return { ...withVariables(planned, environment), storage }
}

const replaysOf = ({ steps }: Result) => steps!.map(({ title }) => title).filter((title) => title.startsWith('replay'))
const startsOf = (results: readonly Result[]) =>
  results.map(({ measurements }) => /-from-epoch (\d+ --epochs \d+)/.exec(String(measurements['target.command']))![1])
const learntBy = async ({ storage }: PlannedTest) => (await storage.sidecar())!.resumeAt

describe('the documented configuration, with a program that begins with the step it is told', () => {
  test.each(READINGS)('passes with all steps compared where its run_for is read as %s', async (READING) => {
    const planned = await copied({ READING })
    const results = await replayDemo(planned)
    expect(listVerdicts(results)).toEqual(ALL_PASS)
    expect(results.map(({ coverage }) => coverage)).toEqual(Array(3).fill({ compared: 3, expected: 3 }))
    // The first window shows it, those after it begin where they should.
    expect(results.map(replaysOf)).toEqual([
      ['replay from step 0'],
      ['replay from step 4', 'replay from step 4, one step later'],
      ['replay from step 9, one step later'],
    ])
    expect(results.map(({ flags }) => flags)).toEqual([[], ['replayed-twice'], []])
    expect(startsOf(results)).toEqual(['0 --epochs 3', '5 --epochs 8', '10 --epochs 13'])
  })

  test('says so, remembers it beside the manifest, and the next run begins there at once', async () => {
    const planned = await copied()
    const told: string[] = []
    const [, first, second] = await replayDemo({ ...planned, tell: (text) => told.push(text) })
    const remembers = 'storage/bert_convergence_harness_manifest.assay.json remembers this'
    expect(first!.figures!.slice(1)).toEqual([
      'replayed again from step 5 (from step 4, as documented, the program repeats that step, which its checkpoint already has)',
      remembers,
    ])
    expect(second!.figures![1]).toMatch(/^started with step 10 \(from step 9, as documented, /)
    expect(told).toEqual([expect.stringContaining(`replayed again, one step later; ${remembers}`)])
    expect(first!.artifacts.map(({ name }) => name).sort()).toEqual([
      'curves.json',
      'program-other-start.log',
      'program.log',
    ])
    expect(await learntBy(planned)).toBe('next_step')
    const again = await replayDemo({ ...nextRun(planned), tell: (text) => told.push(text) })
    expect([listVerdicts(again), again.map(({ flags }) => flags), told.length]).toEqual([ALL_PASS, [[], [], []], 1])
    expect(again.flatMap(replaysOf)).toHaveLength(3)
  })

  test.each(READINGS)('fails by a planted fault in the second replay, and later, read as %s', async (READING) => {
    const planned = await copied({ READING, RATE: '0.2' })
    const [result] = await replayDemo(planned, {}, 'ckpt_9')
    expect(result).toMatchObject({ verdict: 'fail', flags: ['replayed-twice'], coverage: { compared: 3, expected: 3 } })
    expect(result!.reason).toMatch(/^loss\.MLM: 1 of 3 beyond; worst at step 12: 1\.611, limit ≤ 1\.558/)
    await planned.storage.learnStart('next_step')
    const [again] = await replayDemo(nextRun(planned), {}, 'ckpt_9')
    expect([again!.verdict, again!.reason, replaysOf(again!).length]).toEqual(['fail', result!.reason, 1])
  })

  test('finds a fault that the step done twice hides', async () => {
    const faulty = { READING: 'count', RATE: '0.2' }
    const [hidden] = await replayDemo(await copied(faulty, '    resume_at: last_step\n'), {}, 'ckpt_9')
    const [found] = await replayDemo(await copied(faulty), {}, 'ckpt_9')
    expect([hidden!.verdict, found!.verdict]).toEqual(['pass', 'fail'])
    // Which of both is the program's way nobody knows then, so nothing is remembered.
    expect(found!.figures!.at(-1)).toBe('resume_at: last_step in the configuration makes the first replay count')
  })
})

describe('a program that logs too little for another reason fails', () => {
  test('where it ends early from either start', async () => {
    const planned = await copied({ MODE: 'short' })
    const [result] = await replayDemo(planned, {}, 'ckpt_4')
    expect(result).toMatchObject({ verdict: 'fail', coverage: { compared: 2, expected: 3 } })
    expect(result!.reason).toMatch(/^step 7 was not logged, compared 2 of 3/)
    expect(await learntBy(planned)).toBeNull()
  })

  test('where it begins after the step it is told, and then it is replayed once', async () => {
    const [result] = await replayDemo(await copied({ MODE: 'after' }), {}, 'ckpt_4')
    expect([result!.verdict, replaysOf(result!)]).toEqual(['fail', ['replay from step 4']])
    expect(result!.reason).toMatch(/^step 7 was not logged, compared 2 of 3/)
  })
})

describe('one replay is enough', () => {
  test.each([
    ['that crashes', { MODE: 'crash' }, 'error'],
    ['that goes on after the step it is told', { MODE: 'after', READING: 'count' }, 'pass'],
    ['that only names the step it goes on from', { MODE: 'says', READING: 'count', RATE: '0.9' }, 'pass'],
    ['that logs the step it found before it goes on', { MODE: 'states', READING: 'count' }, 'pass'],
  ])('of a program %s', async (_what, environment, verdict) => {
    const [result] = await replayDemo(await copied(environment), {}, 'ckpt_4')
    expect([result!.verdict, replaysOf(result!)]).toEqual([verdict, ['replay from step 4']])
  })

  test.each([
    ['last_step', 'fail', '4 --epochs 7'],
    ['next_step', 'pass', '5 --epochs 8'],
  ])('where resume_at says %s, whatever was remembered', async (resumeAt, verdict, start) => {
    const planned = await copied({}, `    resume_at: ${resumeAt}\n`)
    const judged = async () => {
      const results = await replayDemo(nextRun(planned), {}, 'ckpt_4')
      return [results[0]!.verdict, replaysOf(results[0]!), ...startsOf(results)]
    }
    const expected = [verdict, ['replay from step 4'], start]
    expect([await judged(), await learntBy(planned)]).toEqual([expected, null])
    await planned.storage.learnStart('next_step')
    expect([await judged(), await learntBy(planned)]).toEqual([expected, 'next_step'])
  })
})

describe('a program that takes no other start than the documented one', () => {
  test('is judged by that, which is said', async () => {
    const planned = await copied({ MODE: 'insists', READING: 'count' })
    const [result] = await replayDemo(planned, {}, 'ckpt_4')
    expect(result).toMatchObject({ verdict: 'pass', flags: ['replayed-twice'] })
    expect(result!.figures![1]).toMatch(/where the program ended with exit code 5: the first replay counts$/)
    expect(await learntBy(planned)).toBeNull()
  })

  test('does not pass where that stops short', async () => {
    const [result] = await replayDemo(await copied({ MODE: 'insists' }), {}, 'ckpt_4')
    expect(result).toMatchObject({ verdict: 'error', error: { exitCode: 5 } })
  })
})

describe('what was remembered', () => {
  test('and is no longer right is found out and forgotten', async () => {
    const planned = await copied({ MODE: 'after', READING: 'count' })
    await planned.storage.learnStart('next_step')
    const results = await replayDemo(nextRun(planned), {}, 'ckpt_4 or ckpt_9')
    expect(listVerdicts(results)).toEqual(ALL_PASS.slice(1))
    expect(results.map((result) => replaysOf(result).length)).toEqual([2, 1])
    expect(results[0]!.figures![1]).toMatch(
      /^the program did not begin with step 5, .*: replayed from step 4, as documented$/,
    )
    expect(await learntBy(planned)).toBeNull()
  })

  test('is of this run alone where another tool gathered, which is said', async () => {
    const planned = await copied()
    rmSync(planned.storage.sidecarPath)
    const results = await replayDemo(planned)
    expect([listVerdicts(results), results.map((result) => replaysOf(result).length)]).toEqual([ALL_PASS, [1, 2, 1]])
    expect(results[1]!.figures!.at(-1)).toContain(
      'another tool has no place to remember this: resume_at: next_step in the configuration avoids the first replay',
    )
    expect(await planned.storage.sidecar()).toBeNull()
  })

  test('is of this run alone where the storage cannot be written to, which is said once', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may write everywhere')
    const planned = await copied()
    chmodSync(planned.storage.folder, 0o500)
    const told: string[] = []
    const results = await replayDemo({ ...planned, tell: (text) => told.push(text) })
    chmodSync(planned.storage.folder, 0o700)
    expect([listVerdicts(results), results.map((result) => replaysOf(result).length)]).toEqual([ALL_PASS, [1, 2, 1]])
    expect(told).toEqual([
      expect.stringMatching(/this is not remembered: no permission to write storage\/bert.*avoids the first replay$/),
    ])
  })
})

test.each(READINGS)('what is accepted is what the program logs from the right start, read as %s', async (READING) => {
  const planned = await copied({ READING })
  const before = await planned.storage.manifest()
  const [result] = await renewDemo(planned, {}, 'ckpt_4')
  expect([result!.verdict, result!.figures![0]]).toEqual(['captured', 'same as recorded'])
  expect(result!.figures![1]).toMatch(/^replayed again from step 5/)
  expect(await planned.storage.manifest()).toEqual(before)
})
