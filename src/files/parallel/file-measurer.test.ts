import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareTensors } from '../../compare/compare-tensors.ts'
import { tableRule } from '../../compare/rules/tolerances.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { openNpy, writeNpy } from '../formats/npy.ts'
import { createTraceWriter } from '../formats/trace-writer.ts'
import { compareFiles } from './compare-files.ts'
import { fileMeasurer } from './file-measurer.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-threads-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const COUNT = 5 * 65536 + 1000

/** Deterministic numbers in −1 … 1. */
function noise(count: number, seed: number): Float64Array {
  let state = seed
  return new Float64Array(count).map(() => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  })
}

function pairOf(dtype: DType, count = COUNT): [TensorSource, TensorSource] {
  const isFloat = DTYPES[dtype].kind === 'float'
  const reference = noise(count, 1).map((value) => (isFloat ? value * 8 : Math.round(value * 50) + 60))
  const target = reference.map((value, i) => (i % 977 === 0 ? value + (isFloat ? 0.25 : 1) : value))
  if (isFloat) reference[70_000] = Number.NaN
  const source = (values: Float64Array) =>
    memorySource('y', { dtype, shape: [count], bytes: encodeNumbers(dtype, values) })
  return [source(reference), source(target)]
}

/** Through files, as the measurer wants them. */
async function stored([reference, target]: readonly [TensorSource, TensorSource]): Promise<
  [TensorSource, TensorSource]
> {
  const paths = [join(folder, 'reference.npy'), join(folder, 'target.npy')] as const
  await writeNpy(paths[0], reference)
  await writeNpy(paths[1], target)
  return [await openNpy(paths[0], 'y'), await openNpy(paths[1], 'y')]
}

describe('tensors in files', () => {
  test.each(['float32', 'float16', 'float64', 'int32', 'int64', 'uint8'] as const)(
    '%s: the result is the same to the last bit with any number of threads, and as without files',
    async (dtype) => {
      const pair = pairOf(dtype)
      const files = await stored(pair)
      const rule = tableRule('float32', 'model')
      const context = { generated: false, targetDType: null }
      const alone = await compareTensors(...pair, rule, context)
      expect(alone.mismatches?.count).toBeGreaterThan(300)
      for (const threads of [1, 2, 3, 5]) {
        const measurer = fileMeasurer(threads, 65536)
        expect(await compareTensors(...files, rule, { ...context, measurer }), `${threads} threads`).toEqual(alone)
      }
    },
  )

  test('a constant tensor is found constant across threads, and one that changes between chunks is not', async () => {
    const rule = tableRule('float32', 'model')
    const context = { generated: true, targetDType: null, measurer: fileMeasurer(3, 65536) }
    const values = new Float64Array(COUNT).fill(2)
    const source = () =>
      memorySource('y', { dtype: 'float32', shape: [COUNT], bytes: encodeNumbers('float32', values) })
    const same = await stored([source(), source()])
    expect((await compareTensors(...same, rule, context)).flags).toEqual(['degenerate'])
    values.fill(3, 65536)
    const steps = await stored([source(), source()])
    expect((await compareTensors(...steps, rule, context)).verdict).toBe('pass')
  })

  test('a file that is cut off while it is compared is an error that says so, in every thread', async () => {
    const files = await stored(pairOf('float32'))
    truncateSync(files[1].file!.path, 1000)
    const rule = tableRule('float32', 'model')
    for (const threads of [1, 3]) {
      const context = { generated: false, targetDType: null, measurer: fileMeasurer(threads, 65536) }
      await expect(compareTensors(...files, rule, context)).rejects.toThrow('it was cut off or changed')
    }
  })
})

describe('two files', () => {
  const tensor = (name: string, dtype: DType, values: number[]) =>
    memorySource(name, { dtype, shape: [values.length], bytes: encodeNumbers(dtype, values) })

  async function safetensors(file: string, sources: readonly TensorSource[]): Promise<string> {
    const path = join(folder, file)
    const writer = createTraceWriter(path)
    for (const { name, dtype, shape, ...source } of sources) {
      for await (const bytes of source.chunks()) await writer.sink({ name, dtype, shape, offset: 0, last: true, bytes })
    }
    await writer.finish(sources.map(({ name }) => ({ name, kind: 'tensor', length: 1 })))
    return path
  }

  test('of one tensor each are compared whatever their tensors are called', async () => {
    const one = await safetensors('one.safetensors', [tensor('a', 'float32', [1, 2, 3])])
    const other = join(folder, 'other.npy')
    await writeNpy(other, tensor('b', 'float32', [1, 2, 3.5]))
    const result = await compareFiles(one, other)
    expect(result).toMatchObject({ verdict: 'fail', coverage: { compared: 1, expected: 1 } })
    expect(result.worst[0]).toMatchObject({ tensor: 'a', index: [2], reference: '3', target: '3.5' })
    expect((await compareFiles(other, other)).verdict).toBe('pass')
  })

  test('are compared tensor by tensor: floats by their precision, integers exactly, none may be missing', async () => {
    const reference = [tensor('w', 'float16', [1, 2]), tensor('i', 'int8', [1, 2]), tensor('x', 'float32', [1])]
    const target = [tensor('w', 'float16', [1.001, 2]), tensor('i', 'int8', [1, 3])]
    const paths = [await safetensors('r.safetensors', reference), await safetensors('t.safetensors', target)] as const
    const { outputs } = await compareFiles(...paths)
    expect(outputs.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['w', 'pass'],
      ['i', 'fail'],
      ['x', 'fail'],
    ])
  })

  test('that are something else are refused', async () => {
    const path = join(folder, 'text.txt')
    writeFileSync(path, 'hello, this is text')
    await expect(compareFiles(path, path)).rejects.toThrow('expected a safetensors file')
  })
})
