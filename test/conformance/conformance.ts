import { lstatSync, readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { DTYPES, type DType, isDType } from '../../src/domain/dtype.ts'
import { StageError } from '../../src/domain/errors.ts'
import type { Target } from '../../src/domain/target.ts'
import { countBytes, elementCount, type Tensor, type Trace } from '../../src/domain/tensor.ts'
import { TestClock } from '../../src/domain/testing/test-clock.ts'
import type { Stage } from '../../src/domain/verdict.ts'
import type { ModelProto } from '../../src/onnx/generated/onnx-ml_pb.ts'
import { readStructure } from '../../src/onnx/model.ts'
import type { ModelRef } from '../../src/runtimes/contract.ts'
import type { Pool } from '../../src/runtimes/host/pool.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { encodeStrings } from '../../src/tensors/strings.ts'
import { captureTensors, floats, numbersOf, onceTaken, saveModel, testPool, traceOf } from './capture.ts'
import {
  type ConformanceModels,
  loosely,
  onnxModels,
  smallNetwork,
  unknownOperator,
  withExternalWeights,
} from './models.ts'

type Check = 'dtypes' | 'bytes' | 'external' | 'shapes' | 'declarations' | 'crash' | 'timeout' | 'sessions' | 'chunks'

/** What is not asked of a runtime and why: a check, or one dtype that it takes but does not keep bit for bit. */
type Skips = Partial<Record<Exclude<Check, 'crash' | 'timeout'> | DType, string>>

const READING: Stage = expect.stringMatching(/^(import|compile)$/)

/** What every runtime with a worker process must do; a skip says why one cannot. Open, run, wrong input, crash and timeout are never skipped. */
export function describeConformance(
  spec: string,
  skips: Skips = {},
  notice: (text: string) => void = () => {},
  models: ConformanceModels = onnxModels,
) {
  const target = readTarget(spec)
  const check = (name: keyof typeof skips) => (title: string, work: () => Promise<void>) =>
    skips[name] === undefined ? test(title, work) : test.skip(`${title}: skipped, ${skips[name]}`, work)
  describe(`${spec} conforms`, () => {
    const pool = testPool({ notice })
    afterAll(() => pool.close())

    test('it says what it is and what it can do', async () => {
      const probe = await pool.probe(target)
      expect(probe).toMatchObject({ available: true, accepts: [models.format], version: expect.stringMatching(/./) })
      if (probe.available) expect(probe.capabilities.dtypes).toContain('float32')
    })

    test('it opens a model, declares its outputs and gives the right numbers', async () => {
      const inputs = traceOf({ x: floats([1, 2, -3, 0.5], [2, 2]) })
      const captured = await captureTensors(pool, target, await models.smallNetwork(), inputs)
      const declared = [
        ['y', 'tensor', 'float32'],
        ['z', 'tensor', 'float32'],
      ]
      expect(captured.outputs.map(({ name, kind, dtype }) => [name, kind, dtype])).toEqual(
        models.declaresOutputs ? declared : [],
      )
      expect(captured.values).toEqual([
        { name: 'y', kind: 'tensor', length: 1 },
        { name: 'z', kind: 'tensor', length: 1 },
      ])
      expect(captured.tensors.get('y')).toMatchObject({ dtype: 'float32', shape: [2, 3] })
      expect(numbersOf(captured.tensors.get('y'))).toEqual([9.5, 0, 15.25, 0, 0, 0])
      expect(numbersOf(captured.tensors.get('z'))).toEqual([2, 4, -6, 1])
      expect(captured.retried).toBe(false)
      expect(Object.keys(captured.detail)).not.toEqual([])
    })

    check('bytes')('it opens an edited model from bytes', async () => {
      const model = await saveModel(smallNetwork())
      const edited = { format: 'onnx', bytes: smallNetwork(), folder: dirname(model.path) } as const
      const captured = await captureTensors(pool, target, edited, traceOf({ x: floats([1, 2], [1, 2]) }))
      expect(numbersOf(captured.tensors.get('y'))).toEqual([9.5, 0, 15.25])
    })

    check('external')('it finds weights beside the model, also those of an edited one', async () => {
      const { model: bytes, weights } = withExternalWeights('weights.bin')
      const model = await saveModel(bytes)
      const folder = dirname(model.path)
      await writeFile(join(folder, 'weights.bin'), weights)
      for (const ref of [model, { format: 'onnx', bytes, folder } as const]) {
        const captured = await captureTensors(pool, target, ref, traceOf({ x: floats([1, 2], [1, 2]) }))
        expect(numbersOf(captured.tensors.get('y'))).toEqual([9.5, 0, 15.25])
      }
    })

    check('dtypes')('every dtype that it lists comes back bit for bit', async () => {
      const probe = await pool.probe(target)
      const dtypes = probe.available ? probe.capabilities.dtypes : []
      for (const dtype of dtypes.filter((name) => skips[name] === undefined)) {
        const x = sample(dtype)
        const captured = await captureTensors(pool, target, await models.identity(dtype), traceOf({ x }))
        expect(captured.tensors.get('y'), dtype).toEqual(x)
      }
      expect(dtypes.length).toBeGreaterThan(0)
    })

    for (const dtype of Object.keys(skips).filter(isDType)) {
      test.skip(`${dtype} comes back bit for bit: skipped, ${skips[dtype]}`, () => {})
    }

    check('shapes')('empty tensors and scalars keep their shape', async () => {
      const empty: Tensor = { dtype: 'float32', shape: [0], bytes: new Uint8Array(0) }
      const first = await captureTensors(pool, target, await models.identity('float32'), traceOf({ x: empty }))
      expect(first.tensors.get('y')).toEqual(empty)
      const scalar = floats([2.5], [])
      const second = await captureTensors(pool, target, await models.identity('float32', []), traceOf({ x: scalar }))
      expect(second.tensors.get('y')).toEqual(scalar)
    })

    check('declarations')(
      'an input without a declared shape takes any, an output listed twice comes once',
      async () => {
        const model = await saveModel(loosely())
        for (const x of [floats([1, 2], [1, 2]), floats([-3])]) {
          const { values, tensors } = await captureTensors(pool, target, model, traceOf({ x }))
          expect(values).toEqual([{ name: 'y', kind: 'tensor', length: 1 }])
          expect(tensors.get('y')).toEqual(x)
        }
      },
    )

    const wrongInputs: [string, Trace][] = [
      ['name', traceOf({ nonsense: floats([1, 2], [1, 2]) })],
      ['shape', traceOf({ x: floats([1, 2, 3], [1, 3]) })],
      ['rank', traceOf({ x: floats([1, 2]) })],
      ['dtype', traceOf({ x: { dtype: 'int32', shape: [1, 2], bytes: new Uint8Array(8) } })],
      ['number (none)', traceOf({})],
    ]
    test.each(wrongInputs)(
      'an input of the wrong %s is an error at stage run, and the worker goes on',
      async (_, inputs) => {
        const model = await models.smallNetwork()
        const error = await failureOf(captureTensors(pool, target, model, inputs))
        expect(error).toMatchObject({ stage: 'run', side: 'target', message: expect.stringContaining(target.name) })
        const after = await captureTensors(pool, target, model, traceOf({ x: floats([1, 2], [1, 2]) }))
        expect(numbersOf(after.tensors.get('y'))).toEqual([9.5, 0, 15.25])
      },
    )

    test.each(Object.entries(models.broken))('a model %s is an error at stage import or compile', async (_, save) => {
      const error = await failureOf(captureTensors(pool, target, await save(), traceOf({ x: floats([1]) })))
      expect(error).toMatchObject({ stage: READING, side: 'target' })
      expect(error.detail.signal).toBeUndefined()
    })

    test('a worker killed in the middle of a run, twice, is an error with its signal', async () => {
      const inputs = traceOf({ x: floats([1, 2]) })
      const source = inputs.tensors.get('x')!
      let kills = 0
      async function* chunks() {
        yield new Uint8Array(4)
        kills += killWorkers()
        yield new Uint8Array(4)
      }
      const deadly = { ...inputs, tensors: new Map([['x', { ...source, chunks }]]) }
      const error = await failureOf(captureTensors(pool, target, await models.identity('float32'), deadly))
      expect(error).toMatchObject({ stage: 'run', side: 'target', detail: { signal: 'SIGKILL' } })
      expect([kills, error.message]).toEqual([2, expect.stringContaining('twice, the second time alone')])
    })

    test('a run over its time limit is an error, and the next one works', async () => {
      const clock = new TestClock()
      const timed = testPool({ notice, clock })
      try {
        const size = 1024
        const x = floats(new Array(size * size).fill(1e-3), [size, size])
        const model = await models.longWork(size, 400)
        const inputs = onceTaken(traceOf({ x }), () => clock.runOut())
        const error = await failureOf(captureTensors(timed, target, model, inputs))
        expect(error).toMatchObject({ stage: 'run', message: expect.stringMatching(/did not run .* within \d+ ms/) })
        const after = await captureTensors(timed, target, await models.identity('float32'), traceOf({ x: floats([1]) }))
        expect(numbersOf(after.tensors.get('y'))).toEqual([1])
      } finally {
        await timed.close()
      }
    })

    check('sessions')('one worker serves many sessions', async () => {
      await captureTensors(pool, target, await models.identity('float32'), traceOf({ x: floats([0]) }))
      const before = workerPids()
      for (let i = 0; i < 5; i++) {
        const captured = await captureTensors(
          pool,
          target,
          await models.identity('float32'),
          traceOf({ x: floats([i]) }),
        )
        expect(numbersOf(captured.tensors.get('y'))).toEqual([i])
      }
      expect(workerPids()).toEqual(before)
    })

    check('chunks')('a large tensor comes in chunks', async () => {
      const count = 5 * 2 ** 20
      const x: Tensor = {
        dtype: 'float32',
        shape: [count],
        bytes: new Uint8Array(count * 4).map((_, i) => (i * 7) & 0x3f),
      }
      const captured = await captureTensors(pool, target, await models.identity('float32'), traceOf({ x }))
      expect(captured.chunks.length).toBeGreaterThan(2)
      expect(Buffer.compare(captured.tensors.get('y')!.bytes, x.bytes)).toBe(0)
    })

    test('it gives every form that it lists as a file, and refuses what it cannot open', async (context) => {
      const probe = await pool.probe(target)
      const { forms = [], blobs } = probe.available ? probe.capabilities : {}
      context.skip(forms.length === 0, 'it lists no intermediate forms')
      context.skip(blobs === true, 'it does not see our files')
      const model = await saveModel(smallNetwork())
      const edited = { format: 'onnx', bytes: smallNetwork(), folder: dirname(model.path) } as const
      const given: string[] = []
      for (const form of forms) {
        for (const ref of [model, edited]) {
          const path = await formOf(pool, target, form, ref)
          if (path === null) continue
          given.push(form)
          expect(lstatSync(path).isFile(), form).toBe(true)
          if (path.endsWith('.onnx')) expect(namesIn(await readStructure(path)), form).toEqual([['x'], ['y', 'z']])
        }
      }
      expect(given).not.toEqual([])
      const broken = await saveModel(unknownOperator())
      // What it made before it failed is worth having.
      const error = await failureOf(formOf(pool, target, given.at(-1)!, broken))
      expect(error).toMatchObject({ stage: READING, side: 'target' })
      expect(await formOf(pool, target, given[0]!, model)).not.toBeNull()
    })

    test('its workers end when the pool is closed', async () => {
      await pool.close()
      expect(workerPids()).toEqual([])
    })
  })
}

function formOf(pool: Pool, target: Target, form: string, model: ModelRef): Promise<string | null> {
  const makeFolder = () => mkdtemp(join(tmpdir(), 'assay-form-'))
  return pool.writeIr({ target, side: 'target', form, weights: 'inside', model, makeFolder })
}

function namesIn({ graph }: ModelProto): string[][] {
  return [graph!.input, graph!.output].map((values) => values.map(({ name }) => name))
}

/** Three elements with different bytes; NaN patterns are avoided because moving them may quiet them. */
function sample(dtype: DType): Tensor {
  if (dtype === 'string') return { dtype, shape: [3], bytes: encodeStrings(['', 'Ωmega', 'a b']) }
  const shape = [3]
  const bytes = new Uint8Array(countBytes(dtype, shape)!).map((_, i) => (i * 37 + 17) & 0x3f)
  if (dtype === 'bool') bytes.set([1, 0, 1])
  if (DTYPES[dtype].bits < 8) bytes[bytes.length - 1]! &= (1 << ((elementCount(shape) * DTYPES[dtype].bits) % 8)) - 1
  return { dtype, shape, bytes }
}

export async function failureOf(promise: Promise<unknown>): Promise<StageError> {
  const error = await promise.then(
    () => new Error('nothing failed'),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StageError)
  return error as StageError
}

/** Child processes of this test: the workers of its pools. */
export function workerPids(): number[] {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
  return text.trim().split(' ').filter(Boolean).map(Number).filter(isWorker)
}

/** vitest has its own children (esbuild). */
function isWorker(pid: number): boolean {
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  return /worker/.test(commandLine)
}

function killWorkers(): number {
  const pids = workerPids()
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  return pids.length
}
