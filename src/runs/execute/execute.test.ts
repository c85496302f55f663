import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { FormatError, SkipCase, StageError, UsageError } from '../../domain/errors.ts'
import type { Reporter, RunEvent } from '../../domain/run.ts'
import { TestClock } from '../../domain/testing/test-clock.ts'
import type { Case, Judgement, Lab } from '../contract.ts'
import { readRun } from '../record/read-run.ts'
import { EventLog, FAIL, freshFolder, makeKey, PASS, runRequest, tinyCase, tinySuite } from '../testing/tiny-suite.ts'
import { executeRun } from './execute.ts'

const step = { title: 'capture', stage: 'run', side: 'target' } as const

async function resultOf(judge: (lab: Lab) => Promise<Judgement>, more = {}) {
  const request = runRequest(
    freshFolder(),
    tinySuite(['only'], (_c, lab) => judge(lab)),
    more,
  )
  const outcome = await executeRun(request)
  expect((await readRun(outcome.folder)).results).toStrictEqual(outcome.results)
  return { ...outcome, result: outcome.results[0]! }
}

describe('a run', () => {
  test('judges, records and reports every case in plan order', async () => {
    const log = new EventLog()
    const suite = tinySuite(['b', 'a', 'c'], async (c, lab) => {
      await lab.step({ ...step, key: makeKey(c.id) }, async () => 1)
      return c.id === 'c' ? FAIL : PASS
    })
    const outcome = await executeRun(runRequest(freshFolder(), suite, { reporters: [log] }))
    expect(log.words).toEqual([
      'run-start',
      ...['start a', 'step a capture', 'end a 1/3'],
      ...['start b', 'step b capture', 'end b 2/3'],
      ...['start c', 'step c capture', 'end c 3/3'],
      'run-end',
    ])
    expect(outcome.results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(['a pass', 'b pass', 'c fail'])
    expect(outcome).toMatchObject({ exitCode: 1, problems: [] })
    expect(outcome.header).toMatchObject({
      state: 'complete',
      plan: { cases: ['a', 'b', 'c'], selected: ['a', 'b', 'c'] },
    })
    expect(outcome.header.summary?.counts).toMatchObject({ pass: 2, fail: 1 })
    expect(outcome.header.summary?.stages.run?.count).toBe(3)
    const stored = await readRun(outcome.folder)
    expect(stored).toMatchObject({ complete: true, header: outcome.header, results: outcome.results })
  })

  test('cleans up after itself', async () => {
    const folder = freshFolder()
    const suite = tinySuite(['a'], async (_c, lab) => {
      await lab.step({ ...step, key: null }, (at) => writeFile(join(at, 'x'), 'x'))
      return PASS
    })
    await executeRun(runRequest(folder, suite))
    expect(readdirSync(join(folder, 'cache', 'tmp'))).toEqual([])
  })

  test('with a duplicate id is refused with both', async () => {
    const suite = tinySuite([tinyCase('a', { model: 'one' }), tinyCase('a', { model: 'two' })])
    await expect(executeRun(runRequest(freshFolder(), suite))).rejects.toThrow(/id "a": model one, .* and model two/)
  })

  test('that cannot be collected leaves no record', async () => {
    const folder = freshFolder()
    const suite = {
      ...tinySuite([]),
      async *collect() {
        yield tinyCase('a')
        throw new UsageError('path', 'no such path')
      },
    }
    await expect(executeRun(runRequest(folder, suite))).rejects.toThrow('no such path')
    expect(existsSync(join(folder, 'runs'))).toBe(false)
  })

  test.each([
    ['nothing was collected', [], {}, 5],
    ['nothing was selected', ['a'], { select: { keyword: 'b' } }, 5],
    ['nothing was collected, which is fine', [], { passWithNoTests: true }, 0],
    ['the shard is empty', ['a'], { shard: { index: 2, count: 2 } }, 5],
    ['all passed', ['a', 'b'], {}, 0],
  ])('exits as it should when %s', async (_what, cases, more, exitCode) => {
    expect((await executeRun(runRequest(freshFolder(), tinySuite(cases), more))).exitCode).toBe(exitCode)
  })

  test('with --strict fails on inconclusive', async () => {
    const judge = async () => ({ ...PASS, verdict: 'inconclusive' }) as const
    expect((await resultOf(judge)).exitCode).toBe(5)
    expect((await resultOf(judge, { strict: true })).exitCode).toBe(1)
  })

  test('has the same plan digest on every machine and another one for other work', async () => {
    const digest = async (cases: (string | Case)[], more = {}) =>
      (await executeRun(runRequest(freshFolder(), tinySuite(cases), more))).header.plan.digest
    const plain = await digest(['a', 'b'])
    expect(await digest(['b', 'a'], { shard: { index: 1, count: 2 } })).toBe(plain)
    expect(await digest(['a', 'b', 'c'])).not.toBe(plain)
    expect(await digest(['a', 'b'], { select: { keyword: 'a' } })).not.toBe(plain)
    expect(await digest(['a', 'b'], { sameForAllShards: { seed: 1 } })).not.toBe(plain)
    expect(await digest(['a', tinyCase('b', { content: 'other model' })])).not.toBe(plain)
  })
})

describe('what goes wrong in a case', () => {
  test('a StageError is an error with stage, side and detail', async () => {
    const detail = { tool: 'ort', signal: 'SIGABRT', stderr: 'abort' }
    const { result, exitCode } = await resultOf(() =>
      Promise.reject(new StageError('compile', 'died', { side: 'target', detail })),
    )
    expect(result).toMatchObject({
      verdict: 'error',
      error: { stage: 'compile', side: 'target', message: 'died', ...detail },
    })
    expect(result).toMatchObject({ reproduce: 'assay test -k only', coverage: { compared: 0 } })
    expect(exitCode).toBe(1)
  })

  test('a SkipCase is a skip with its reason', async () => {
    const { result, exitCode } = await resultOf(() => Promise.reject(new SkipCase('no bf16 here')))
    expect(result).toMatchObject({ verdict: 'skip', reason: 'no bf16 here' })
    expect(result.error).toBeUndefined()
    expect(exitCode).toBe(5)
  })

  test('a FormatError outside of steps is an error at import', async () => {
    const { result } = await resultOf(() => Promise.reject(new FormatError('onnx', 'no protobuf')))
    expect(result.error).toEqual({ stage: 'import', message: 'no protobuf' })
  })

  test('any other exception is an error at the last step, and the run goes on', async () => {
    const suite = tinySuite(['a', 'b'], async (c, lab) => {
      await lab.step({ ...step, key: null }, async () => 1)
      if (c.id === 'a') throw new RangeError('too big')
      return PASS
    })
    const { results } = await executeRun(runRequest(freshFolder(), suite))
    expect(results.map(({ verdict }) => verdict)).toEqual(['error', 'pass'])
    expect(results[0]?.error).toMatchObject({
      stage: 'run',
      side: 'target',
      message: expect.stringMatching(/RangeError: too big/),
    })
  })

  test('a pass that compared nothing, or not all, is an error', async () => {
    for (const coverage of [
      { compared: 0, expected: 0 },
      { compared: 0, expected: 3 },
      { compared: 2, expected: 3 },
    ]) {
      const { result } = await resultOf(async () => ({ ...PASS, coverage }))
      expect(result).toMatchObject({ verdict: 'error', error: { stage: 'compare' } })
    }
  })

  test('a case that hangs is ended by its limit and the run goes on', async () => {
    const clock = new TestClock()
    const suite = tinySuite(['a', 'b'], (c, lab) => {
      if (c.id === 'b') return Promise.resolve(PASS)
      return lab
        .step({ ...step, key: makeKey('k') }, () => new Promise<Judgement>(() => clock.runOut()))
        .then(() => PASS)
    })
    const { results } = await executeRun(runRequest(freshFolder(), suite, { caseTimeoutMs: 50, clock }))
    expect(results[0]?.error).toMatchObject({
      stage: 'run',
      message: expect.stringMatching(/within 0.05 s.*while: capture/),
    })
    expect(results[0]?.steps).toHaveLength(1)
    expect(results[1]?.verdict).toBe('pass')
  })

  test('shared work that fails is an error of every case that needs it', async () => {
    let count = 0
    const suite = tinySuite(['a', 'b', 'c'], async (_c, lab) => {
      await lab.step({ ...step, key: makeKey('k') }, () => Promise.reject(new Error(`attempt ${++count}`)))
      return PASS
    })
    const { results } = await executeRun(runRequest(freshFolder(), suite, { jobs: 3 }))
    expect(results.map(({ error }) => error?.message)).toEqual(['attempt 1', 'attempt 1', 'attempt 1'])
  })
})

describe('scheduling', () => {
  test('jobs run beside each other, no more than asked for', async () => {
    let running = 0
    let most = 0
    const suite = tinySuite(['a', 'b', 'c', 'd', 'e'], async () => {
      most = Math.max(most, ++running)
      await until(() => most > 1, 'two run beside each other')
      running--
      return PASS
    })
    await executeRun(runRequest(freshFolder(), suite, { jobs: 2 }))
    expect(most).toBe(2)
  })

  test('cases of one affinity come next to each other, and a second worker opens another group', async () => {
    const cases = ['a1', 'b1', 'a2', 'b2', 'a3'].map((id) => tinyCase(id, { affinity: id[0]! }))
    const order = async (jobs: number) => {
      const log = new EventLog()
      await executeRun(runRequest(freshFolder(), tinySuite(cases), { jobs, reporters: [log] }))
      return log.words.filter((word) => word.startsWith('start')).map((word) => word.slice(6))
    }
    expect(await order(1)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
    expect((await order(2)).slice(0, 2)).toEqual(['a1', 'b1'])
  })

  test('cases that need the same thing to themselves wait without a job of their own', async () => {
    const cases = ['a1', 'a2', 'ab', 'b1', 'c1', 'c2'].map((id) =>
      tinyCase(id, { exclusive: [...id].filter((name) => 'ab'.includes(name)) }),
    )
    const inFlight: Case[] = []
    const begun: string[] = []
    const suite = tinySuite(cases, async (c) => {
      begun.push(c.id)
      for (const other of inFlight) for (const name of other.exclusive!) expect(c.exclusive).not.toContain(name)
      inFlight.push(c)
      await until(() => begun.length > 2, 'three have begun')
      inFlight.splice(inFlight.indexOf(c), 1)
      return PASS
    })
    const { results } = await executeRun(runRequest(freshFolder(), suite, { jobs: 3 }))
    expect(begun.slice(0, 3)).toEqual(['a1', 'b1', 'c1'])
    expect(results.map(({ verdict }) => verdict)).toEqual(cases.map(() => 'pass'))
  })

  test('many jobs are no leak of listeners', async () => {
    const warnings: Error[] = []
    const onOutput = (warning: Error) => void warnings.push(warning)
    process.on('warning', onOutput)
    const ids = Array.from({ length: 24 }, (_, i) => `case ${i}`)
    await executeRun(runRequest(freshFolder(), tinySuite(ids), { jobs: 24 }))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onOutput)
    expect(warnings).toEqual([])
  })

  test('-x stops after the first failure and the record says so', async () => {
    const judge = async (c: Case) => (c.id === 'b' ? FAIL : PASS)
    const outcome = await executeRun(runRequest(freshFolder(), tinySuite(['a', 'b', 'c'], judge), { maxFailures: 1 }))
    expect(outcome.results.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(outcome.exitCode).toBe(1)
    expect(await readRun(outcome.folder)).toMatchObject({
      complete: false,
      why: expect.stringMatching(/not judged: 1 of 3/),
    })
  })
})

describe('expected failures', () => {
  const entry = (id: string) => ({ id, verdict: 'fail' as const, place: 'f.yaml:1' })
  const expecting = (...ids: string[]) => ({ expected: { entries: ids.map(entry), today: '2027-03-01' } })
  const failing = async (c: Case) => (c.id === 'c' ? PASS : FAIL)
  const run = (more: object, judge: (c: Case) => Promise<Judgement> = failing, cases = ['a', 'b', 'c']) =>
    executeRun(runRequest(freshFolder(), tinySuite(cases, judge), more))

  test('are recorded, announced, counted and summarised alike', async () => {
    const log = new EventLog()
    const outcome = await run({ ...expecting('a', 'b', 'gone'), reporters: [log] })
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['xfail', 'xfail', 'pass'])
    const announced = log.events.flatMap((event) => (event.type === 'case-end' ? [event.result] : []))
    expect(announced).toEqual(outcome.results)
    expect((await readRun(outcome.folder)).results).toStrictEqual(outcome.results)
    expect(outcome.header.summary).toMatchObject({
      counts: { xfail: 2, pass: 1, fail: 0 },
      stale: [{ id: 'gone', place: 'f.yaml:1' }],
      exitCode: 0,
    })
  })

  test('that pass fail the run, and so do stale ones with --strict', async () => {
    expect((await run(expecting('a', 'b', 'c'))).exitCode).toBe(1)
    expect((await run({ ...expecting('a', 'b', 'gone'), strict: true })).exitCode).toBe(1)
    expect((await run({ ...expecting('a', 'b'), strict: true })).exitCode).toBe(0)
  })

  test('that were not selected, or are in another shard, are not stale', async () => {
    const some = await run({ ...expecting('a', 'b', 'gone'), select: { keyword: 'a' } })
    expect(some.header.summary).toMatchObject({ stale: [{ id: 'gone' }], exitCode: 0 })
    const shard = await run({ ...expecting('a', 'b'), shard: { index: 3, count: 3 } })
    expect(shard.header.summary?.stale).toBeUndefined()
  })

  test('do not stop a run at its first failure, others do', async () => {
    expect((await run({ ...expecting('a'), maxFailures: 1 })).results.map(({ id }) => id)).toEqual(['a', 'b'])
    expect((await run({ ...expecting('a', 'b'), maxFailures: 1 })).results).toHaveLength(3)
    const passing = await run({ ...expecting('a', 'b'), maxFailures: 1 }, async () => PASS)
    expect(passing.results.map(({ verdict }) => verdict)).toEqual(['xpass'])
  })

  test('of parts never excuse their whole, and a whole is matched when it is settled', async () => {
    const seen: string[] = []
    const judge = async (c: Case): Promise<Judgement> => {
      if (c.id !== 'a') return FAIL
      const settle = (results: ReadonlyMap<string, { verdict: string }>) => {
        seen.push(...[...results.values()].map(({ verdict }) => verdict))
        return { reason: 'differs; look at b' }
      }
      return { ...FAIL, settle }
    }
    const look = { ...entry('a'), error: 'look at b' }
    const entries = [look, entry('b'), entry('c')]
    const outcome = await run({ expected: { entries, today: '2027-03-01' }, maxFailures: 1 }, judge)
    expect(seen).toEqual(['fail', 'fail'])
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['xfail', 'xfail', 'xfail'])
    expect((await run(expecting('b', 'c'), judge)).results[0]!.verdict).toBe('fail')
  })

  test('a whole that passes in the end was not expected to', async () => {
    const judge = async (): Promise<Judgement> => {
      return { ...PASS, verdict: 'inconclusive', settle: () => ({ verdict: 'pass', reason: 'its parts pass' }) }
    }
    const entries = [{ ...entry('a'), verdict: 'inconclusive' as const }]
    const outcome = await run({ expected: { entries, today: '2027-03-01' } }, judge, ['a'])
    expect(outcome.results[0]).toMatchObject({
      verdict: 'xpass',
      reason: 'expected inconclusive, but it passes: remove the entry f.yaml:1; its parts pass',
    })
    expect(outcome.exitCode).toBe(1)
  })
})

describe('interrupting', () => {
  async function interrupted(kind: 'stop' | 'abort') {
    const [stop, abort] = [new AbortController(), new AbortController()]
    const log = new EventLog()
    const suite = tinySuite(['a', 'b', 'c'], async (c, lab) => {
      if (c.id !== 'b') return PASS
      stop.abort()
      await lab.step({ ...step, key: null }, async () => {
        if (kind === 'stop') return
        abort.abort()
        await new Promise(() => {})
      })
      return PASS
    })
    const signals = { stop: stop.signal, abort: abort.signal }
    const outcome = await executeRun(runRequest(freshFolder(), suite, { signals, reporters: [log] }))
    return { outcome, log, stored: await readRun(outcome.folder) }
  }

  test('once finishes what runs and begins nothing more', async () => {
    const { outcome, stored, log } = await interrupted('stop')
    expect(outcome.results.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(outcome).toMatchObject({ exitCode: 2, header: { state: 'interrupted' } })
    expect(stored).toMatchObject({ complete: false, why: 'it was interrupted; 2 of 3 cases judged' })
    expect(log.words.at(-1)).toBe('run-end')
  })

  test('twice ends what runs, without a verdict for it', async () => {
    const { outcome, stored } = await interrupted('abort')
    expect(outcome.results.map(({ id }) => id)).toEqual(['a'])
    expect(outcome.exitCode).toBe(2)
    expect(stored.why).toBe('it was interrupted; 1 of 3 cases judged')
  })
})

describe('reporters', () => {
  test('one that throws is named once and harms nobody', async () => {
    class Broken implements Reporter {
      onEvent(_event: RunEvent): void {
        throw new Error('out of ink')
      }
    }
    const log = new EventLog()
    const request = runRequest(freshFolder(), tinySuite(['a', 'b']), { reporters: [new Broken(), log] })
    const outcome = await executeRun(request)
    expect(outcome.exitCode).toBe(0)
    expect(outcome.problems).toEqual(['reporter 1 (Broken) failed at run-start: out of ink'])
    expect(log.events.filter((event) => event.type === 'notice')).toEqual([
      { type: 'notice', text: outcome.problems[0] },
    ])
    expect(log.words.at(-1)).toBe('run-end')
  })

  test('a slow one still gets events in order', async () => {
    const seen: string[] = []
    const slow: Reporter = {
      async onEvent(event) {
        await new Promise((resolve) => setTimeout(resolve, event.type === 'case-start' ? 15 : 1))
        seen.push(event.type)
      },
    }
    await executeRun(runRequest(freshFolder(), tinySuite(['a', 'b']), { reporters: [slow] }))
    expect(seen).toEqual(['run-start', 'case-start', 'case-end', 'case-start', 'case-end', 'run-end'])
  })
})
