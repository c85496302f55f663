import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { TensorChunk } from '../../src/domain/tensor.ts'
import { TestClock } from '../../src/domain/testing/test-clock.ts'
import type { DecodeRequest, DecodeStep } from '../../src/runtimes/contract.ts'
import type { Decoding } from '../../src/runtimes/host/decoding.ts'
import type { Pool } from '../../src/runtimes/host/pool.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { duringStep, type TestPoolOptions, testPool } from './capture.ts'
import { failureOf, workerPids } from './conformance.ts'

const SCRIPT = 'test/conformance/decoding-worker.mjs'
const MODEL = { format: 'huggingface', path: 'no-such-folder' } as const
const PROMPT: DecodeRequest = {
  ids: [
    [0, 7],
    [8, 9],
  ],
  mask: [
    [0, 1],
    [1, 1],
  ],
  newTokens: 4,
  eos: [],
  keep: { topK: 2 },
}

let pool: Pool

function poolWith(options: TestPoolOptions = {}): Pool {
  pool = testPool(options)
  return pool
}

afterEach(async () => {
  await pool.close()
  expect(workerPids()).toEqual([])
})

async function taskOf(how: string, request: Partial<DecodeRequest> = {}) {
  const memory = join(await mkdtemp(join(tmpdir(), 'assay-decoding-')), 'starts')
  await writeFile(memory, '')
  const target = readTarget(`${how}=command:node,arg=${SCRIPT},arg=${how},arg=${memory}`)
  return { target, side: 'target', model: MODEL, request: { ...PROMPT, ...request } } as const
}

async function allSteps([decoding]: readonly Decoding[]): Promise<DecodeStep[]> {
  const steps: DecodeStep[] = []
  for await (const step of decoding!.steps) steps.push(step)
  return steps
}

const tokensOf = (steps: readonly DecodeStep[]) => steps.map(({ sequences }) => sequences.map((s) => s?.token))

describe('decoding', () => {
  test('gives one step for every pull, with what was asked for of the logits', async () => {
    const at = (step: number) => [[step], [50, 51]]
    const { value, retried } = await poolWith().decode([await taskOf('well', { keep: { topK: 2, at } })], allSteps)
    expect(tokensOf(value)).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
    ])
    expect(value[3]!.sequences[1]).toEqual({
      chosen: 3,
      token: 3,
      ended: false,
      logSumExp: 10.5,
      nonFinite: { nan: 0, positiveInfinity: 0, negativeInfinity: 3 },
      top: { ids: [3], logits: Float32Array.of(10) },
      at: Float32Array.of(-50, -51),
    })
    expect(retried).toBe(false)
  })

  test('gives all logits where they are asked for', async () => {
    const { value } = await poolWith().decode([await taskOf('well', { keep: 'full', newTokens: 1 })], allSteps)
    const { logits, top } = value[0]!.sequences[1]!
    expect([logits?.length, logits?.[0], logits?.[99], top]).toEqual([100, 10, -99, undefined])
  })

  test('in a session with taps gives theirs before each step, under names of their own', async () => {
    const given: unknown[] = []
    const taps = async ({ name, shape, bytes }: TensorChunk) => {
      given.push([name, shape, ...new Float32Array(bytes.slice().buffer)])
    }
    const task = { ...(await taskOf('well', { taps, newTokens: 2 })), taps: ['hidden', 'logits'] }
    const { value } = await poolWith().decode([task], async ([decoding]) => {
      await decoding!.steps.next()
      return given.splice(0)
    })
    expect(value).toEqual([
      ['hidden', [2, 2], 0, 1, 2, 3],
      ['logits', [2, 2], 0, 1, 2, 3],
    ])
  })

  test.each([
    ['twice-tapped', ['hidden'], 'tensor "tap:hidden" came twice'],
    ['taps-unasked', undefined, 'tensor "tap:hidden" came but is in no value'],
  ])('with taps breaks the protocol where they come wrong: %s', async (how, taps, message) => {
    const request = taps ? { taps: async () => {} } : {}
    const task = { ...(await taskOf(how, request)), ...(taps && { taps }) }
    const error = await failureOf(poolWith().decode([task], allSteps))
    expect(error.message).toContain(message)
  })

  test('ends when every sequence has ended', async () => {
    const { value } = await poolWith().decode([await taskOf('well', { eos: [1] })], allSteps)
    expect(tokensOf(value)).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('of two targets goes in lockstep even where one worker may be busy, the second forced by the first', async () => {
    let last: DecodeStep | undefined
    const force = () => last!.sequences.map((sequence) => sequence!.token! + 40)
    const tasks = [await taskOf('well'), await taskOf('also-well', { force })]
    const { value } = await poolWith().decode(tasks, async ([reference, target]) => {
      const pairs: unknown[] = []
      for await (const step of reference!.steps) {
        last = step
        const forced = (await target!.steps.next()).value
        pairs.push([step.sequences[0]!.token, forced && forced.sequences[0]!.token])
      }
      return pairs
    })
    expect(value).toEqual([
      [0, 40],
      [1, 41],
      [2, 42],
      [3, 43],
    ])
  })

  test('that is left in the middle closes its session; the worker serves the next one', async () => {
    const pids = new Set<string>()
    const [one, task] = [poolWith(), await taskOf('well')]
    for (const left of [true, false]) {
      const { value } = await one.decode([task], async ([decoding]) => {
        pids.add(decoding!.detail.pid!)
        if (!left) return (await allSteps([decoding!])).length
        for await (const _ of decoding!.steps) break
        return 1
      })
      expect(value).toBe(left ? 1 : 4)
    }
    expect(pids.size).toBe(1)
  })

  test('in which the worker dies every time is an error with the signal and the stage', async () => {
    const error = await failureOf(poolWith().decode([await taskOf('die')], allSteps))
    expect(error).toMatchObject({ stage: 'run', side: 'target', detail: { signal: 'SIGABRT' } })
    expect(error.message).toBe(
      'die: the worker was killed by SIGABRT before it answered, twice, the second time alone in a fresh worker',
    )
  })

  test('in which the worker dies once is done again from its start', async () => {
    let calls = 0
    const { value, retried } = await poolWith().decode([await taskOf('die-once')], (decodings) => {
      calls++
      return allSteps(decodings)
    })
    expect([value.length, retried, calls]).toEqual([4, true, 2])
  })

  test('blames the one of two that died, whoever was opened last', async () => {
    const follow = async ([first, second]: readonly Decoding[]) => {
      for await (const _ of first!.steps) await second!.steps.next()
    }
    const error = await failureOf(poolWith().decode([await taskOf('die'), await taskOf('well')], follow))
    expect(error.message).toMatch(/^die: the worker was killed by SIGABRT/)
  })

  test('over its time limit is an error that names the step', async () => {
    const clock = new TestClock()
    const follow = duringStep(2, clock, () => clock.runOut())
    const error = await failureOf(poolWith({ clock, runMs: 500 }).decode([await taskOf('hang')], follow))
    expect(error).toMatchObject({ stage: 'run', message: 'hang: the worker did not decode step 2 within 500 ms' })
  })

  test('that the worker refuses gives its words', async () => {
    const error = await failureOf(poolWith().decode([await taskOf('refuse')], allSteps))
    expect(error).toMatchObject({ stage: 'run', message: 'refuse: model.layers.3 (Attention): no memory' })
  })

  test('an abort kills the worker and gives the reason of the abort', async () => {
    const controller = new AbortController()
    const task = { ...(await taskOf('hang')), signal: controller.signal }
    const clock = new TestClock()
    const follow = duringStep(2, clock, () => controller.abort(new Error('second Ctrl-C')))
    await expect(poolWith({ clock }).decode([task], follow)).rejects.toThrow('second Ctrl-C')
  })

  test.each([
    ['short', 'decode.step reports 0 of 2 sequences'],
    ['no-duration', 'decode.step'],
    ['bad-token', 'token: found -1, expected a whole number from 0 up'],
  ])('an answer that is %s breaks the protocol', async (how, message) => {
    const error = await failureOf(poolWith().decode([await taskOf(how)], allSteps))
    expect(error).toMatchObject({ stage: 'run', message: expect.stringContaining('the worker broke the protocol') })
    expect(error.message).toContain(message)
  })

  test('logits that were asked for and did not come break the protocol', async () => {
    const keep = { topK: 1, at: () => [[1], [2]] }
    const error = await failureOf(poolWith().decode([await taskOf('forgets-at', { keep })], allSteps))
    expect(error.message).toContain('tensor "at_logits" never came')
  })

  test('a model of a format that the worker does not take is an error at compile', async () => {
    const task = { ...(await taskOf('well')), model: { format: 'onnx', path: 'a.onnx' } as const }
    const error = await failureOf(poolWith().decode([task], allSteps))
    expect(error).toMatchObject({ stage: 'compile', side: 'target' })
    expect(error.message).toBe('well: it takes huggingface models, this is onnx')
  })

  test('a worker that does not list it is a skip', async () => {
    const task = { ...(await taskOf('well')), model: { format: 'onnx', path: 'a.onnx' } as const }
    const target = readTarget('plain=command:node,arg=test/conformance/misbehaving-worker.mjs,arg=well')
    await expect(poolWith().decode([{ ...task, target }], allSteps)).rejects.toMatchObject({
      name: 'SkipCase',
      message: 'plain cannot decode',
    })
  })

  test('of taps by a worker that does not list them is a skip', async () => {
    const task = { ...(await taskOf('without-taps')), taps: ['hidden'] }
    await expect(poolWith().decode([task], allSteps)).rejects.toMatchObject({
      name: 'SkipCase',
      message: 'without-taps cannot give taps',
    })
  })
})
