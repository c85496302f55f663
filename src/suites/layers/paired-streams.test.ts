import { describe, expect, test } from 'vitest'
import { layerMetrics } from '../../compare/layers/layer-metrics.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { elementCount } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { PairedStreams } from './paired-streams.ts'

interface Given {
  readonly name: string
  readonly values: readonly number[]
  readonly shape?: readonly number[]
  readonly dtype?: DType
}

/** Gives tensors as a worker does: chunk after chunk, each when the one before is no longer needed. */
async function give(streams: PairedStreams, side: Side, tensors: readonly Given[], atOnce: number): Promise<void> {
  for (const { name, values, shape = [values.length], dtype = 'float32' } of tensors) {
    const bytes = encodeNumbers(dtype, values)
    const size = (atOnce * DTYPES[dtype].bits) / 8
    for (let offset = 0; offset === 0 || offset < bytes.length; offset += size) {
      const part = bytes.subarray(offset, offset + size)
      const last = offset + size >= bytes.length
      await streams.take(side, { name, dtype, shape, offset, last, bytes: part })
    }
  }
  streams.end(side)
}

async function pair(
  reference: readonly Given[],
  target: readonly Given[],
  { sizes = [3, 2] as readonly [number, number], ...options }: Partial<Options> = {},
) {
  const streams = new PairedStreams({ mask: null, ...options })
  await Promise.all([give(streams, 'reference', reference, sizes[0]), give(streams, 'target', target, sizes[1])])
  return streams.tensors
}

type Options = ConstructorParameters<typeof PairedStreams>[0] & { readonly sizes: readonly [number, number] }

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)
const figures = (tensors: Awaited<ReturnType<typeof pair>>) =>
  tensors.map(({ name, sums, problem }) => [name, problem ?? [sums!.count, sums!.maxAbs]])

describe('tensors that both sides give in the same order', () => {
  const one = [
    { name: 'a', values: numbers(10) },
    { name: 'empty', values: [], shape: [0, 4] },
    { name: 'b', values: numbers(7) },
  ]
  const two = [one[0]!, one[1]!, { name: 'b', values: numbers(7, 1) }]

  test.each([[[3, 2]], [[100, 1]], [[1, 100]], [[4, 4]]] as [readonly [number, number]][])(
    'are measured whatever their chunks: %j',
    async (sizes) => {
      const found = figures(await pair(one, two, { sizes }))
      expect(found).toEqual([
        ['a', [10, 0]],
        ['empty', [0, 0]],
        ['b', [7, 1]],
      ])
    },
  )

  test('are measured across precisions and below a byte', async () => {
    const found = await pair(
      [{ name: 'x', values: numbers(5), dtype: 'int4' }],
      [{ name: 'x', values: numbers(5), dtype: 'float16' }],
      { sizes: [2, 3] },
    )
    expect(figures(found)).toEqual([['x', [5, 0]]])
  })

  test('keep a side from running ahead', async () => {
    const streams = new PairedStreams({ mask: null })
    let isDone = false
    const reference = give(streams, 'reference', [{ name: 'a', values: [1, 2] }], 1).then(() => {
      isDone = true
    })
    await new Promise(setImmediate)
    expect(isDone).toBe(false)
    await Promise.all([reference, give(streams, 'target', [{ name: 'a', values: [1, 2] }], 2)])
    expect(isDone).toBe(true)
  })
})

test('rows are those of the last dimension, across chunks', async () => {
  const values = [1, 0, 0, 1, 1, 0]
  const turned = [1, 0, 1, 0, 1, 0]
  const [found] = await pair([{ name: 'x', values, shape: [3, 2] }], [{ name: 'x', values: turned, shape: [3, 2] }])
  const byName = new Map(layerMetrics(found!.sums!).map(({ name, value }) => [name, value]))
  expect([byName.get('row_cosine'), byName.get('least_row_cosine')]).toEqual([expect.closeTo(2 / 3, 15), 0])
})

test('padded positions are left out', async () => {
  const mask = [
    [0, 1],
    [1, 1],
  ]
  const wrong = [9, 9, 3, 4, 5, 6, 7, 8]
  const found = await pair(
    [{ name: 'x', values: numbers(8, 1), shape: [2, 2, 2] }],
    [{ name: 'x', values: wrong, shape: [2, 2, 2] }],
    { mask, sizes: [3, 1] },
  )
  expect(figures(found)).toEqual([['x', [6, 0]]])
})

describe('tensors in another order', () => {
  const a = { name: 'a', values: numbers(5) }
  const b = { name: 'b', values: numbers(4) }
  const c = { name: 'c', values: numbers(3) }

  test('are held until their other side comes', async () => {
    expect(figures(await pair([a, b, c], [c, b, a]))).toEqual([
      ['a', [5, 0]],
      ['b', [4, 0]],
      ['c', [3, 0]],
    ])
  })

  test('are refused where too much would be held', async () => {
    const pairing = pair([a, b], [b, a], { mostHeldBytes: 15 })
    await expect(pairing).rejects.toThrow('the target computes its layers in another order than the reference')
  })

  test('are told where only one side has them', async () => {
    expect(figures(await pair([a, b], [b, c]))).toEqual([
      ['a', 'only the reference computes it'],
      ['b', [4, 0]],
      ['c', 'only the target computes it'],
    ])
  })
})

describe('what cannot be measured', () => {
  const after = { name: 'after', values: numbers(3) }

  test.each<[string, Given, Given, string]>([
    [
      'shapes',
      { name: 'x', values: numbers(4) },
      { name: 'x', values: numbers(6), shape: [2, 3] },
      'the shapes differ: (4) on the reference, (2, 3) on the target',
    ],
    [
      'complex numbers',
      { name: 'x', values: numbers(4), shape: [2], dtype: 'complex64' },
      { name: 'x', values: numbers(2) },
      'only one side is complex',
    ],
  ])('%s that differ are told, and what follows is measured', async (_, one, two, problem) => {
    expect(figures(await pair([one, after], [two, after]))).toEqual([
      ['x', problem],
      ['after', [3, 0]],
    ])
  })
})

test('a side that fails stops the other', async () => {
  const streams = new PairedStreams({ mask: null })
  const reference = give(streams, 'reference', [{ name: 'a', values: numbers(4) }], 2)
  streams.stop(new Error('the worker died'))
  await expect(reference).rejects.toThrow('the worker died')
  await expect(give(streams, 'target', [{ name: 'a', values: [1] }], 1)).rejects.toThrow('the worker died')
})

test('drawn tensors in drawn orders and chunks are all measured', async () => {
  let state = 5
  const draw = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % below
  }
  for (let round = 0; round < 200; round++) {
    const tensors = Array.from({ length: 1 + draw(6) }, (_, i) => {
      const shape = [1 + draw(3), 1 + draw(5)]
      return { name: `t${i}`, shape, values: numbers(elementCount(shape)) }
    })
    const shuffled = [...tensors].sort(() => draw(3) - 1)
    const found = await pair(tensors, shuffled, { sizes: [1 + draw(7), 1 + draw(7)] })
    const expected = tensors.map(({ name, values }) => [name, [values.length, 0]])
    expect(figures(found).sort()).toEqual(expected.sort())
  }
})
