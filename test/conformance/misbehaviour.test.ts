import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { StageError } from '../../src/domain/errors.ts'
import { TestClock } from '../../src/domain/testing/test-clock.ts'
import type { Limits } from '../../src/runtimes/contract.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { until } from '../support/events.ts'
import {
  captureTensors,
  floats,
  numbersOf,
  onceTaken,
  saveModel,
  type TestPoolOptions,
  testPool,
  traceOf,
} from './capture.ts'
import { failureOf, workerPids } from './conformance.ts'
import { identity } from './models.ts'

const SCRIPT = 'test/conformance/misbehaving-worker.mjs'
const INPUTS = traceOf({ x: floats([1]) })
const DIED = 'the worker was killed by SIGABRT before it answered, twice, the second time alone in a fresh worker'
const BROKE = 'the worker broke the protocol: '

async function workerThat(how: string) {
  const memory = join(await mkdtemp(join(tmpdir(), 'assay-misbehaviour-')), 'starts')
  await writeFile(memory, '')
  return readTarget(`${how}=command:node,arg=${SCRIPT},arg=${how},arg=${memory}`)
}

/** How the capture fails; afterwards a good worker must still be served by the same pool. */
async function failureWith(how: string, options: TestPoolOptions = {}, inputs = INPUTS): Promise<StageError> {
  const pool = testPool(options)
  try {
    const model = await saveModel(identity('float32'))
    const error = await failureOf(captureTensors(pool, await workerThat(how), model, inputs))
    const after = await captureTensors(pool, await workerThat('well'), model, INPUTS)
    expect(numbersOf(after.tensors.get('y'))).toEqual([1])
    return error
  } finally {
    await pool.close()
    expect(workerPids()).toEqual([])
  }
}

test('a worker that is still starting when the pool is closed ends with it, and none starts afterwards', async () => {
  const pool = testPool()
  const probing = pool.probe(await workerThat('nothing'))
  const later = pool.probe(await workerThat('well'))
  await until(() => workerPids().length > 0, 'a worker has started')
  await pool.close()
  expect(await probing).toMatchObject({ available: false })
  await expect(later).rejects.toThrow('the pool was closed')
  expect(workerPids()).toEqual([])
})

describe('a worker that misbehaves is an error that says so, and the pool goes on', () => {
  const MIB = 2 ** 20
  test.each<[string, string, string, Partial<Limits>]>([
    ['dies-every-time', 'run', DIED, {}],
    ['dies-at-start', 'compile', DIED, {}],
    ['dies-at-open', 'compile', DIED, {}],
    ['dies-at-close', 'run', DIED, {}],
    ['exits-quietly', 'run', 'the worker ended with exit code 0 before it answered, twice', {}],
    [
      'half-a-frame',
      'run',
      'ended with exit code 3, in the middle of a frame, after 10 of 128 bytes of its header',
      {},
    ],
    ['eats-memory', 'run', 'MiB of memory; its limit is 300 MiB, twice', { memoryBytes: 300 * MIB }],
    ['garbage', 'compile', `${BROKE}expected a frame (magic ASY1) but found "Segmentation fault (core dumped)\\n"`, {}],
    ['prints-to-stdout', 'run', `${BROKE}expected a frame (magic ASY1) but found "Epoch 1/10 \\x1b[31mloss=0.5\\n`, {}],
    ['huge-header', 'run', `${BROKE}a frame's header has 4294967295 bytes; at most 4194304 are allowed`, {}],
    ['huge-payload', 'run', `${BROKE}a frame's payload has 4294967295 bytes; at most 8388608 are allowed`, {}],
    ['not-json', 'run', `${BROKE}a frame's header is not JSON; it begins with "{\\"}"`, {}],
    ['unknown-dtype', 'run', `${BROKE}tensor "y" has the unknown dtype "float37"`, {}],
    ['claims-10-gb', 'run', '"y", float32 (2500000000), takes 10000000000 bytes', {}],
    ['sends-10-gb', 'run', 'outputs over the limit of 67108864 bytes for one run', { outputBytes: 64 * MIB }],
    ['strings-without-end', 'run', 'outputs over the limit of 67108864 bytes for one run', { outputBytes: 64 * MIB }],
    ['negative-shape', 'run', 'dimension in tensor shape: found -1, expected a whole number from 0 up', {}],
    ['too-many-bytes', 'run', 'tensor "y": 8 bytes came, but float32 (1) has 4', {}],
    ['too-few-bytes', 'run', 'tensor "y": 4 bytes came, but float32 (2) has 8', {}],
    ['splits-an-element', 'run', 'tensor "y": a chunk of 3 bytes splits a float32', {}],
    ['out-of-order', 'run', 'tensor "y": a chunk at offset 4, expected 0', {}],
    ['twice', 'run', 'tensor "y" came twice', {}],
    ['never-ends-tensor', 'run', 'tensor "y" never ended', {}],
    ['forgets-a-tensor', 'run', 'tensor "y" never came', {}],
    ['unnamed-tensor', 'run', 'tensor "y" came but is in no value', {}],
    ['names-twice', 'run', 'the values name a tensor twice', {}],
    ['is-as-expected', 'run', `${BROKE}the worker says that "y" is as expected, of which nothing was expected`, {}],
    ['other-request', 'run', 'which expects none', {}],
    ['other-answer', 'run', 'which was never sent', {}],
    ['no-duration', 'run', 'run durationMs: found nothing, expected a number from 0 up', {}],
    ['other-protocol', 'compile', 'the worker speaks protocols [99]; this host speaks 1', {}],
    ['unavailable', 'compile', 'no such board', {}],
    ['refuses-hello', 'compile', 'licence expired', {}],
  ])('%s', async (how, stage, message, limits) => {
    const error = await failureWith(how, limits)
    expect(error.message).toContain(message)
    expect(error).toMatchObject({ stage, side: 'target' })
  })

  test('one that hangs while it starts is late, and the pool goes on', async () => {
    const clock = new TestClock()
    void clock.started().then(() => clock.runOut())
    const error = await failureWith('nothing', { clock, startMs: 2000 })
    expect(error).toMatchObject({ stage: 'compile', side: 'target' })
    expect(error.message).toContain('the worker did not start within 2000 ms')
  })

  test('one that hangs while it runs is late, and the pool goes on', async () => {
    const clock = new TestClock()
    const inputs = onceTaken(INPUTS, () => clock.runOut())
    const error = await failureWith('hangs', { clock, runMs: 300 }, inputs)
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
    expect(error.message).toContain('the worker did not run the model within 300 ms')
  })

  test('a death carries the signal and the last of what the worker printed', async () => {
    const { detail } = await failureWith('dies-every-time')
    expect(detail).toMatchObject({ signal: 'SIGABRT', stderr: 'assertion failed: the moon is full\n', tool: 'node' })
  })

  test('memory of the host stays bounded while a worker sends without end', async () => {
    const pool = testPool({ outputBytes: 2 ** 30 })
    const target = await workerThat('strings-without-end')
    const model = await saveModel(identity('float32'))
    let largest = 0
    const makeSink = async () => async () => {
      largest = Math.max(largest, process.memoryUsage.rss())
    }
    const before = process.memoryUsage.rss()
    await failureOf(pool.capture({ target, side: 'target', model, inputs: INPUTS, makeSink }))
    await pool.close()
    expect(largest - before).toBeLessThan(400 * 2 ** 20)
  })
})

describe('a worker that dies once', () => {
  test('its work is done again in a fresh worker, and the result says so', async () => {
    const pool = testPool()
    const captured = await captureTensors(
      pool,
      await workerThat('dies-once'),
      await saveModel(identity('float32')),
      INPUTS,
    )
    await pool.close()
    expect(numbersOf(captured.tensors.get('y'))).toEqual([1])
    expect(captured.retried).toBe(true)
  })
})

describe('a program that is not there', () => {
  test('is an error at compile and an unavailable probe', async () => {
    const pool = testPool()
    const target = readTarget('command:./no-such-program')
    const error = await failureOf(captureTensors(pool, target, await saveModel(identity('float32')), INPUTS))
    expect(error.message).toMatch(/cannot start .*no-such-program: there is no file \/.*\/no-such-program/)
    expect(await pool.probe(target)).toMatchObject({ available: false, reason: expect.stringContaining('no file') })
    await pool.close()
  })
})

describe('the pool', () => {
  test('with isolation gives every case a process of its own', async () => {
    const pool = testPool({ isolate: 'case' })
    const target = await workerThat('well')
    const model = await saveModel(identity('float32'))
    const pids = new Set<string>()
    for (let i = 0; i < 3; i++) pids.add((await captureTensors(pool, target, model, INPUTS)).detail.pid!)
    await pool.close()
    expect(pids.size).toBe(3)
  })

  test('closes the workers that were idle longest when many targets take turns', async () => {
    const pool = testPool()
    const model = await saveModel(identity('float32'))
    for (let i = 0; i < 9; i++) await captureTensors(pool, await workerThat('well'), model, INPUTS)
    await until(() => workerPids().length <= 7, 'the workers over the number have ended')
    expect(workerPids()).toHaveLength(7)
    await pool.close()
  })

  test('the probe of a worker that dies tells how, with its last words', async () => {
    const pool = testPool()
    const probe = await pool.probe(await workerThat('dies-at-start'))
    await pool.close()
    expect(probe).toMatchObject({ available: false, reason: expect.stringContaining('the moon is full') })
  })

  test('the probe of a worker that refuses hello gives its words', async () => {
    const pool = testPool()
    expect(await pool.probe(await workerThat('refuses-hello'))).toEqual({ available: false, reason: 'licence expired' })
    await pool.close()
    expect(workerPids()).toEqual([])
  })

  test('replaces a worker after 500 sessions', async () => {
    const pool = testPool()
    const target = await workerThat('well')
    const model = await saveModel(identity('float32'))
    const pids = new Set<string>()
    for (let i = 0; i < 501; i++) pids.add((await captureTensors(pool, target, model, INPUTS)).detail.pid!)
    await pool.close()
    expect(pids.size).toBe(2)
  })

  test('never has more busy workers than its size, and serves all that wait', async () => {
    const pool = testPool({ size: 2 })
    const target = await workerThat('well')
    const model = await saveModel(identity('float32'))
    const captures = await Promise.all(Array.from({ length: 12 }, () => captureTensors(pool, target, model, INPUTS)))
    await pool.close()
    expect(new Set(captures.map((captured) => captured.detail.pid)).size).toBeLessThanOrEqual(2)
  })

  test('an abort kills the worker and gives the reason of the abort', async () => {
    const pool = testPool()
    const target = await workerThat('hangs')
    const model = await saveModel(identity('float32'))
    const controller = new AbortController()
    const inputs = onceTaken(INPUTS, () => controller.abort(new Error('second Ctrl-C')))
    const makeSink = async () => async () => {}
    const request = { target, side: 'target', model, inputs, makeSink, signal: controller.signal } as const
    await expect(pool.capture(request)).rejects.toThrow('second Ctrl-C')
    expect(workerPids()).toEqual([])
    await pool.close()
  })

  test('an error of the sink is given as it is', async () => {
    const pool = testPool()
    const target = await workerThat('well')
    const model = await saveModel(identity('float32'))
    const makeSink = async () => async () => {
      throw new Error('disk full')
    }
    await expect(pool.capture({ target, side: 'target', model, inputs: INPUTS, makeSink })).rejects.toThrow('disk full')
    const after = await captureTensors(pool, target, model, INPUTS)
    expect(numbersOf(after.tensors.get('y'))).toEqual([1])
    await pool.close()
  })

  test('a dtype that the worker does not list is a skip, for inputs and for known outputs', async () => {
    const pool = testPool()
    const target = await workerThat('well')
    const model = await saveModel(identity('float32'))
    const makeSink = async () => async () => {}
    const halves = traceOf({ x: { dtype: 'float16', shape: [1], bytes: new Uint8Array(2) } })
    await expect(captureTensors(pool, target, model, halves)).rejects.toMatchObject({
      name: 'SkipCase',
      message: 'well cannot take float16 inputs',
    })
    const expects = [{ name: 'y', kind: 'sequence', dtype: 'float32', shape: null }] as const
    const request = { target, side: 'target', model, inputs: INPUTS, expects, makeSink } as const
    await expect(pool.capture(request)).rejects.toThrow('well cannot give sequence outputs')
    await pool.close()
  })
})
