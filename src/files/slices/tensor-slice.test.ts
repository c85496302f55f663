import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { layOutWrapped } from '../../compare/slice/grid.ts'
import type { SliceIndex } from '../../compare/slice/slice-index.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { encodeBigInts, encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { openSlice } from './tensor-slice.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-slice-'))

/** The same bytes in the middle of a file. */
function inFile(source: TensorSource, bytes: Uint8Array): TensorSource {
  const path = join(folder, `${Math.random()}.bin`)
  writeFileSync(path, Buffer.concat([Buffer.from('head'), bytes, Buffer.from('tail')]))
  return { ...source, file: { path, start: 4 } }
}

function sourceOf(dtype: DType, shape: readonly number[], values: readonly number[], where: 'file' | 'memory') {
  const bytes = encodeNumbers(dtype, values)
  const source = memorySource('x', { dtype, shape, bytes }, 8)
  return where === 'file' ? inFile(source, bytes) : source
}

async function read(source: TensorSource, index: SliceIndex, part?: [number, number, number, number]) {
  const grid = layOutWrapped(source.shape, index)
  const [row, col, rows, cols] = part ?? [0, 0, grid.rows, grid.cols]
  const reader = await openSlice(source, grid)
  const bytes = reader.read({ row, col, rows, cols })
  reader.close()
  const count = Math.floor((bytes.length * 8) / DTYPES[source.dtype].bits)
  const numbers = new Float64Array(count)
  decodeNumbers(source.dtype, bytes, 0, count, numbers)
  return [...numbers]
}

const SHAPE = [2, 3, 4]
const COUNTED = Array.from({ length: elementCount(SHAPE) }, (_, i) => i)

describe.each(['file', 'memory'] as const)('slices of a tensor in %s', (where) => {
  test.each<[string, SliceIndex, number[]]>([
    ['the last two dimensions', [1, null, null], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]],
    ['the first two', [null, null, 3], [3, 7, 11, 15, 19, 23]],
    ['the outer two', [null, 1, null], [4, 5, 6, 7, 16, 17, 18, 19]],
    ['one that is contiguous', [1, 2, null], [20, 21, 22, 23]],
    ['one with gaps', [null, 0, 1], [1, 13]],
    ['a single element', [1, 1, 1], [17]],
  ])('%s', async (_, index, values) => {
    expect(await read(sourceOf('float32', SHAPE, COUNTED, where), index)).toEqual(values)
  })

  test('a window of rows and columns', async () => {
    const source = sourceOf('float32', [4, 5], [...Array(20).keys()], where)
    expect(await read(source, [null, null], [1, 2, 2, 3])).toEqual([7, 8, 9, 12, 13, 14])
  })

  test('a lone dimension is wrapped, and its last row ends where the tensor does', async () => {
    const values = Array.from({ length: 70 }, (_, i) => i)
    const source = sourceOf('int16', [70], values, where)
    expect(await read(source, [null])).toEqual(values)
    expect(await read(source, [null], [3, 4, 2, 12])).toEqual([52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 68, 69])
  })

  test.each(Object.keys(DTYPES).filter((name) => name !== 'string' && !name.startsWith('complex')) as DType[])(
    '%s, along and across the rows',
    async (dtype) => {
      const values = [1, 2, 1, 1, 2, 1, 1, 1, 1, 2, 2, 1, 1, 1, 2].map((value) =>
        dtype === 'bool' ? value - 1 : value,
      )
      const mapped = dtype === 'int2' ? values.map((value) => -value) : values
      const source = sourceOf(dtype, [3, 5], mapped, where)
      expect((await read(source, [1, null])).slice(0, 5)).toEqual(mapped.slice(5, 10))
      expect((await read(source, [null, 4])).slice(0, 3)).toEqual([mapped[4], mapped[9], mapped[14]])
    },
  )

  test('64-bit integers stay exact', async () => {
    const bytes = encodeBigInts('int64', [1n, 2n ** 53n + 1n, 3n, -(2n ** 62n)])
    const memory = memorySource('x', { dtype: 'int64', shape: [2, 2], bytes })
    const source = where === 'file' ? inFile(memory, bytes) : memory
    const grid = layOutWrapped([2, 2], [null, 1])
    const reader = await openSlice(source, grid)
    const found = reader.read({ row: 0, col: 0, rows: 1, cols: 2 })
    expect([...new BigInt64Array(found.slice().buffer)]).toEqual([2n ** 53n + 1n, -(2n ** 62n)])
    reader.close()
  })
})

test('neighbours that are far apart are read one by one, near ones together', async () => {
  const shape = [3, 5000]
  const values = Array.from({ length: elementCount(shape) }, (_, i) => i)
  const source = sourceOf('float32', shape, values, 'file')
  expect(await read(source, [null, 4999])).toEqual([4999, 9999, 14999])
  expect(await read({ ...source, shape: [5000, 3] }, [null, 2])).toEqual(values.filter((value) => value % 3 === 2))
})

describe('refusals', () => {
  test('strings', async () => {
    const strings = memorySource('s', { dtype: 'string', shape: [1], bytes: new Uint8Array(4) })
    await expect(openSlice(strings, layOutWrapped([1], [null]))).rejects.toThrow('holds strings')
  })

  test('a file that became shorter', async () => {
    const cut = sourceOf('float32', SHAPE, COUNTED, 'file')
    writeFileSync(cut.file!.path, 'head')
    await expect(read(cut, [1, null, null])).rejects.toThrow('it was cut off or changed')
  })
})
