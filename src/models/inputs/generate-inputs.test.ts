import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DType } from '../../domain/dtype.ts'
import { SkipCase, StageError } from '../../domain/errors.ts'
import type { ValueSpec } from '../../domain/tensor.ts'
import { writeNpy } from '../../files/formats/npy.ts'
import { writeTrace } from '../../files/formats/trace-writer.ts'
import type { InputUse } from '../../onnx/inputs/input-uses.ts'
import { writeTensorFile } from '../../onnx/tensors/value-file.ts'
import { decodeBigInts, decodeNumbers } from '../../tensors/decode.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { decodeStrings } from '../../tensors/strings.ts'
import { generateInputs, type InputOptions, type MadeInputs } from './generate-inputs.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-inputs-'))
const defaults: InputOptions = { seed: 0, dims: {}, policies: {}, folder }

function input(name: string, dtype: DType, ...shape: (number | string | null)[]): ValueSpec {
  return { name, kind: 'tensor', dtype, shape }
}

function make(specs: readonly ValueSpec[], options: Partial<InputOptions> = {}, uses: Record<string, InputUse> = {}) {
  return generateInputs(specs, new Map(Object.entries(uses)), { ...defaults, ...options })
}

function numbersOf(made: MadeInputs, name: string): number[] {
  const { dtype, shape, bytes } = made.tensors.get(name)!
  const count = shape.reduce((a, b) => a * b, 1)
  const out = new Float64Array(count)
  decodeNumbers(dtype, bytes, 0, count, out)
  return [...out]
}

async function valuesFor(use: object, dtype: DType, shape: number[], others: ValueSpec[] = []): Promise<number[]> {
  const made = await make([input('v', dtype, ...shape), ...others], {}, { v: { because: 'test', ...use } as InputUse })
  return numbersOf(made, 'v')
}

describe('generated inputs', () => {
  test('are the same bytes for the same seed, and others for another', async () => {
    const bytes = async (seed: number) => (await make([input('x', 'float32', 8)], { seed })).tensors.get('x')!.bytes
    expect(await bytes(1)).toEqual(await bytes(1))
    expect(await bytes(1)).not.toEqual(await bytes(2))
  })

  test('of one input do not depend on the others', async () => {
    const alone = await make([input('x', 'float32', 8)])
    const beside = await make([input('a', 'float32', 8), input('x', 'float32', 8)])
    expect(beside.tensors.get('x')).toEqual(alone.tensors.get('x'))
  })

  test('do not change from version to version', async () => {
    const made = await make([input('x', 'float32', 4), input('q', 'uint8', 6), input('i', 'int64', 4)])
    expect([numbersOf(made, 'x'), numbersOf(made, 'q'), numbersOf(made, 'i')]).toMatchInlineSnapshot(`
      [
        [
          0.0027098655700683594,
          -0.8848476409912109,
          0.664858341217041,
          0.18014287948608398,
        ],
        [
          69,
          56,
          99,
          190,
          228,
          12,
        ],
        [
          -47,
          55,
          -49,
          -65,
        ],
      ]
    `)
  })

  test('are floats in [-1, 1), bytes over their whole range, wider integers within ±100', async () => {
    const made = await make([
      input('f', 'float16', 2000),
      input('u', 'uint8', 4000),
      input('s', 'int8', 4000),
      input('w', 'int32', 4000),
      input('n', 'uint4', 400),
      input('b', 'bool', 100),
    ])
    const span = (name: string) => [Math.min(...numbersOf(made, name)), Math.max(...numbersOf(made, name))]
    expect(span('f')[0]).toBeGreaterThanOrEqual(-1)
    expect(span('f')[1]).toBeLessThanOrEqual(1)
    expect(span('u')).toEqual([0, 255])
    expect(span('s')).toEqual([-128, 127])
    expect(span('w')).toEqual([-100, 100])
    expect(span('n')).toEqual([0, 15])
    expect(span('b')).toEqual([0, 1])
  })

  test('in double precision use more bits than a float32 has', async () => {
    const values = numbersOf(await make([input('x', 'float64', 32)]), 'x')
    expect(values.every((value) => Math.fround(value) === value)).toBe(false)
  })

  test.each<[DType]>([
    ['bfloat16'],
    ['float8e4m3fn'],
    ['float8e8m0'],
    ['float4e2m1'],
    ['int2'],
    ['complex64'],
    ['uint64'],
    ['int16'],
  ])('come in %s too', async (dtype) => {
    const made = await make([input('x', dtype, 3, 5)])
    expect(made.tensors.get('x')).toMatchObject({ dtype, shape: [3, 5] })
  })

  test('are words for strings', async () => {
    const { bytes } = (await make([input('x', 'string', 5)])).tensors.get('x')!
    expect(decodeStrings(bytes, 5)).toHaveLength(5)
  })

  test('may be empty or a scalar', async () => {
    const made = await make([input('none', 'float32', 0, 4), input('one', 'int64')])
    expect(made.tensors.get('none')!.bytes).toHaveLength(0)
    expect(made.tensors.get('one')!.bytes).toHaveLength(8)
  })

  test('say how they were made', async () => {
    const use: InputUse = { kind: 'mask', because: 'by its name only' }
    const { choices, dims } = await make([input('x', 'float32', 'batch', 2), input('m', 'int64', 1, 4)], {}, { m: use })
    expect(choices).toEqual([
      { name: 'x', dtype: 'float32', shape: [1, 2], how: 'uniform', plain: true, given: false },
      { name: 'm', dtype: 'int64', shape: [1, 4], how: 'mask: by its name only', plain: false, given: false },
    ])
    expect(dims).toEqual([{ name: 'batch', size: 1, because: 'by its name, a batch', free: true }])
  })

  test('are not made for sequences, unknown dtypes or absurd sizes', async () => {
    const sequence: ValueSpec = { name: 's', kind: 'sequence', dtype: 'float32', shape: null }
    await expect(make([sequence])).rejects.toThrow(SkipCase)
    await expect(make([{ ...input('x', 'float32', 1), dtype: null }])).rejects.toThrow('declares no dtype')
    await expect(make([input('x', 'float32', 'n')], { dims: { n: 2 ** 40 } })).rejects.toThrow('set smaller sizes')
  })
})

describe('an input of no declared shape', () => {
  const rankless = { ...input('x', 'float32'), shape: null }
  const shapeWith = async (options: Partial<InputOptions>) => (await make([rankless], options)).tensors.get('x')!.shape

  test('has two axes, and says so', async () => {
    const { choices } = await make([rankless])
    const how = 'uniform; the model declares no shape, so it has 2 axes'
    expect(choices).toEqual([{ name: 'x', dtype: 'float32', shape: [1, 16], how, plain: true, given: false }])
  })

  test('has the axes that operators ask for, that were found, or that are given', async () => {
    const asked = new Map([['x', { rank: 3, sizes: new Map([[1, { size: 80, because: 'test' }]]) }]])
    expect(await shapeWith({ asked })).toEqual([1, 80, 16])
    expect(await shapeWith({ asked, ranks: { x: 1 } })).toEqual([1])
    expect(await shapeWith({ asked, dims: { 'x[3]': 5 } })).toEqual([1, 80, 224, 5])
  })

  test('has as many values as are listed', async () => {
    expect(await shapeWith({ policies: { x: { value: [1, 2, 3] } } })).toEqual([3])
  })
})

describe('inputs fit their use', () => {
  test('indices stay within bounds and reach them', async () => {
    const values = await valuesFor({ kind: 'index', low: 0, high: 2 }, 'int64', [200])
    expect(new Set(values)).toEqual(new Set([0, 1, 2]))
  })

  test('indices into an input of open size are bounded by what it was given', async () => {
    const use = { kind: 'index', low: 0, high: null, of: { input: 'data', axis: 1 } }
    const values = await valuesFor(use, 'int64', [300], [input('data', 'float32', 'rows', 7)])
    expect(Math.max(...values)).toBe(6)
    expect(Math.min(...values)).toBe(0)
  })

  test('indices of unknown bound are 0', async () => {
    expect(await valuesFor({ kind: 'index', low: 0, high: null }, 'int64', [3])).toEqual([0, 0, 0])
  })

  test.each<[string, object, DType, number[], number[]]>([
    ['masks', { kind: 'mask' }, 'int64', [2, 4], [1, 1, 1, 0, 1, 1, 1, 0]],
    ['a mask of one', { kind: 'mask' }, 'bool', [1, 1], [1]],
    ['positions', { kind: 'positions', high: null }, 'int64', [2, 3], [0, 1, 2, 0, 1, 2]],
    ['positions in a short table', { kind: 'positions', high: 1 }, 'int64', [1, 3], [0, 1, 1]],
    ['a new shape', { kind: 'fixed', each: 1, last: -1 }, 'int64', [3], [1, 1, -1]],
    ['axes', { kind: 'fixed', each: 0, step: 1 }, 'int64', [3], [0, 1, 2]],
    ['conditions', { kind: 'condition', value: true }, 'bool', [], [1]],
    ['zero points', { kind: 'zero-point' }, 'uint8', [1], [128]],
    ['signed zero points', { kind: 'zero-point' }, 'int8', [1], [0]],
    ['lengths', { kind: 'length', input: 'data', axis: 1 }, 'int32', [2], [7, 7]],
    ['parts', { kind: 'parts', input: 'data', axis: 1 }, 'int64', [3], [2, 2, 3]],
    ['parts counted from the end', { kind: 'parts', input: 'data', axis: -1 }, 'int64', [2], [3, 4]],
    ['extents', { kind: 'extent', input: 'data' }, 'int64', [2], [5, 7]],
    ['a whole range', { kind: 'range', low: 0.5, high: 1 }, 'int64', [2], [1, 1]],
  ])('%s', async (_what, use, dtype, shape, values) => {
    expect(await valuesFor(use, dtype, shape, [input('data', 'float32', 5, 7)])).toEqual(values)
  })

  test('denominators stay away from zero, on both sides of it', async () => {
    const floats = await valuesFor({ kind: 'nonzero' }, 'float32', [200])
    expect(Math.min(...floats.map(Math.abs))).toBeGreaterThanOrEqual(0.5)
    expect(floats.some((value) => value < 0) && floats.some((value) => value > 0)).toBe(true)
    expect(Math.min(...(await valuesFor({ kind: 'nonzero' }, 'int32', [200])))).toBe(1)
  })

  test('the switch of a merged decoder, when off, empties its caches', async () => {
    const specs = [input('past', 'float32', 1, 2, 'past_length', 4), input('use_cache_branch', 'bool', 1)]
    const off: InputUse = { kind: 'condition', value: false, because: 'If' }
    const made = await make(specs, {}, { use_cache_branch: off })
    expect(made.tensors.get('past')!.shape).toEqual([1, 2, 0, 4])
    const on = await make(specs, { policies: { use_cache_branch: { value: 1 } } }, { use_cache_branch: off })
    expect(on.tensors.get('past')!.shape).toEqual([1, 2, 8, 4])
  })
})

describe('inputs as given', () => {
  test('values, ranges, signals and functions win over the use', async () => {
    const use: InputUse = { kind: 'index', low: 0, high: 1, because: 'Gather' }
    const policies = {
      a: { value: 7 },
      b: { value: [1, 2, 3] },
      c: { range: [5, 5] },
      d: { signal: 'ones' },
      e: () => [4, 5, 6],
    } as const
    const specs = ['a', 'b', 'c', 'd', 'e'].map((name) => input(name, 'int64', 3))
    const made = await make(specs, { policies }, Object.fromEntries(specs.map(({ name }) => [name, use])))
    expect(specs.map(({ name }) => numbersOf(made, name).join())).toEqual(['7,7,7', '1,2,3', '5,5,5', '1,1,1', '4,5,6'])
    expect(made.choices.map(({ given }) => given)).toEqual([true, true, false, false, true])
  })

  test('64-bit integers of a function stay exact', async () => {
    const made = await make([input('x', 'int64', 1)], { policies: { x: () => [2n ** 60n + 1n] } })
    expect(decodeBigInts('int64', made.tensors.get('x')!.bytes, 0, 1)).toEqual([2n ** 60n + 1n])
  })

  test('too few values, or values that do not fit the dtype, are errors of the inputs', async () => {
    const given = (policy: InputOptions['policies'][string], dtype: DType) =>
      make([input('x', dtype, 2, 2)], { policies: { x: policy } })
    await expect(given({ value: [1, 2] }, 'float32')).rejects.toThrow('input "x" (2, 2) takes 4 values, found 2')
    await expect(given(() => [1], 'float32')).rejects.toThrow(StageError)
    await expect(given({ value: 0.5 }, 'int64')).rejects.toThrow('input "x": 0.5 cannot be written as int64')
    await expect(given({ value: 256 }, 'uint8')).rejects.toThrow('input "x": 256 cannot be written as uint8')
  })

  test('an input named like a built-in property has no policy by accident', async () => {
    const made = await make([input('constructor', 'float32', 2), input('__proto__', 'float32', 2)])
    expect(made.choices.map(({ how }) => how)).toEqual(['uniform', 'uniform'])
  })

  test('names that the model does not have are told', async () => {
    const made = await make([input('x', 'float32', 1)], { policies: { y: { value: 1 } }, dims: { rows: 2 } })
    expect(made.unusedPolicies).toEqual(['y'])
    expect(made.unusedDims).toEqual(['rows'])
  })
})

describe('inputs from files', () => {
  const tensor = { dtype: 'float32', shape: [1, 3], bytes: encodeNumbers('float32', [1, 2, 3]) } as const
  const read = (file: string, spec = input('x', 'float32', 'n', 3)) => make([spec], { policies: { x: { file } } })

  test('npy, pb, safetensors and raw bytes give the same tensor', async () => {
    await writeNpy(join(folder, 'x.npy'), memorySource('x', tensor))
    await writeTensorFile(join(folder, 'x.pb'), 'x', tensor)
    await writeTrace(
      join(folder, 'x.safetensors'),
      new Map([
        ['x', tensor],
        ['other', tensor],
      ]),
    )
    writeFileSync(join(folder, 'x.bin'), tensor.bytes)
    for (const file of ['x.npy', 'x.pb', 'x.safetensors', 'x.safetensors#other', 'x.bin']) {
      const made = await read(file)
      expect(numbersOf(made, 'x'), file).toEqual([1, 2, 3])
      const how = `file ${file}`
      expect(made.choices).toEqual([{ name: 'x', dtype: 'float32', shape: [1, 3], how, plain: false, given: true }])
    }
  })

  test('give their sizes to the inputs that share them', async () => {
    await writeNpy(join(folder, 'wide.npy'), memorySource('x', tensor))
    const specs = [input('mask', 'int64', 'batch', 'width'), input('x', 'float32', 'batch', 'width')]
    const policies = { x: { file: 'wide.npy' } }
    expect((await make(specs, { policies })).tensors.get('mask')!.shape).toEqual([1, 3])
    await expect(make(specs, { policies, dims: { width: 4 } })).rejects.toThrow(
      'the file of input "x" has width = 3, but it is 4 elsewhere',
    )
  })

  test('that do not fit are refused with what was found and expected', async () => {
    await writeNpy(join(folder, 'fit.npy'), memorySource('x', tensor))
    await expect(read('fit.npy', input('x', 'int64', 1, 3))).rejects.toThrow('holds float32, but input "x" takes int64')
    await expect(read('fit.npy', input('x', 'float32', 1, 4))).rejects.toThrow(
      'has shape (1, 3), but input "x" takes (1, 4)',
    )
    await expect(read('fit.npy', input('x', 'float32', 3))).rejects.toThrow(StageError)
  })

  test('that are missing, broken or of another size are errors of the inputs', async () => {
    writeFileSync(join(folder, 'broken.npy'), 'nothing of that kind')
    writeFileSync(join(folder, 'short.bin'), new Uint8Array(8))
    await writeTrace(join(folder, 'entry.safetensors'), new Map([['y', tensor]]))
    for (const [file, message] of [
      ['absent.npy', 'input "x" cannot be read from absent.npy'],
      ['broken.npy', 'input "x" cannot be read from broken.npy'],
      ['short.bin', 'it has 8 bytes, but float32 (1, 3) takes 12'],
      ['entry.safetensors', 'it has no tensor "x", only y'],
    ] as const) {
      await expect(read(file), file).rejects.toThrow(StageError)
      await expect(read(file), file).rejects.toThrow(message)
    }
  })
})
