import { describe, expect, test } from 'vitest'
import type { PairLimits } from '../../compare/pairs/pair-statistics.ts'
import { layOutWrapped } from '../../compare/slice/grid.ts'
import type { DType } from '../../domain/dtype.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { readCells, type SliceCells } from './slice-cells.ts'
import { openSlice } from './tensor-slice.ts'

const LIMITS: PairLimits = { rtol: 0.1, constant: 0, relL2: null, ulps: 0, ulpDType: null }

async function cellsOf(dtype: DType, shape: readonly number[], sides: readonly number[][], mostCells: number) {
  const grid = layOutWrapped(
    shape,
    shape.map(() => null),
  )
  const open = (values: readonly number[]) =>
    openSlice(memorySource('x', { dtype, shape, bytes: encodeNumbers(dtype, values) }), grid)
  const opened = await Promise.all(sides.map(async (values) => ({ dtype, reader: await open(values) })))
  const limits = sides.length === 2 ? LIMITS : null
  return readCells({ sides: opened, grid, limits }, { row: 0, col: 0, rows: grid.rows, cols: grid.cols }, mostCells)
}

function numbers(dtype: DType, { bytes, blocks }: SliceCells, side: number): number[] {
  const found = new Float64Array(blocks.rows * blocks.cols)
  decodeNumbers(dtype, bytes[side]!, 0, found.length, found)
  return [...found]
}

describe('a slice with more elements than cells', () => {
  //                  block 0 · block 1
  const reference = [1, 100, 1, 1, 1, 1, 1, 1]
  const target = [1.2, 105, 1, 1, 1, 1.05, 1, 1.01]

  test('shows of each block the element that is furthest over its own limit, not the largest error', async () => {
    const cells = await cellsOf('float32', [2, 4], [reference, target], 2)
    expect(cells.blocks).toMatchObject({ rows: 2, cols: 2, rowStep: 1, colStep: 2 })
    expect(numbers('float32', cells, 1).map((value) => value.toFixed(2))).toEqual(['1.20', '1.00', '1.05', '1.01'])
    expect([...cells.places!]).toEqual([0, 0, 1, 1])
  })

  test('counts all elements, shown or not', async () => {
    const { tally } = await cellsOf('float32', [2, 4], [reference, target], 1)
    expect(tally?.counts).toEqual([4, 3, 1, 0])
    expect(tally?.maxError).toBe(5)
    expect(tally?.maxReference).toBe(100)
  })

  test('a NaN on one side is the worst there is, on both it is equal', async () => {
    const cells = await cellsOf(
      'float32',
      [1, 4],
      [
        [1, 1, Number.NaN, 1],
        [9, Number.NaN, Number.NaN, 1],
      ],
      2,
    )
    expect(numbers('float32', cells, 1)).toEqual([Number.NaN, Number.NaN])
    expect(cells.tally?.counts).toEqual([2, 0, 1, 1])
    expect([...cells.places!]).toEqual([1, 0])
  })

  test('elements of four bits are picked and packed again', async () => {
    const cells = await cellsOf(
      'int4',
      [3, 3],
      [
        [1, 1, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, -8, 1, 1, 1, 7, 1, 1],
      ],
      2,
    )
    expect(numbers('int4', cells, 1)).toEqual([1, -8, 7, 1])
    expect(cells.tally?.counts).toEqual([7, 0, 2, 0])
  })

  test('a lone side shows its largest magnitudes', async () => {
    const cells = await cellsOf('float32', [2, 4], [[0, -3, 1, 2, 0, 0, 0, 0]], 2)
    expect(numbers('float32', cells, 0)).toEqual([-3, 2, 0, 0])
    expect(cells.tally).toBeNull()
  })

  test('a wrapped row that ends early has fewer blocks', async () => {
    const values = Array.from({ length: 70 }, (_, i) => i)
    const changed = values.map((value) => (value === 69 ? 100 : value))
    const cells = await cellsOf('float32', [70], [values, changed], 2)
    expect(cells.blocks).toMatchObject({ rows: 2, cols: 2, rowStep: 3, colStep: 8 })
    expect(numbers('float32', cells, 1)).toEqual([0, 8, 100, 56])
    expect(cells.tally?.counts).toEqual([69, 0, 1, 0])
  })
})

test('a slice with as few elements as cells is given as it is', async () => {
  const cells = await cellsOf(
    'float32',
    [2, 2],
    [
      [1, 2, 3, 4],
      [1, 2, 3, 5],
    ],
    2,
  )
  expect(numbers('float32', cells, 1)).toEqual([1, 2, 3, 5])
  expect([cells.places, cells.tally]).toEqual([null, null])
})
