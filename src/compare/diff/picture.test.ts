import { expect, test } from 'vitest'
import { layOutSlice } from '../slice/grid.ts'
import { chooseSlice, parseSlice } from '../slice/slice-index.ts'
import { readNeighbours, readPicture } from './picture.ts'
import { filled, tensor, withPair } from './testing/tensors.ts'

const SHAPE = [2, 3, 4, 5]
const REFERENCE = filled(SHAPE, () => 0)
const TARGET = filled(SHAPE, (n, c, y, x) => 1000 * n! + 100 * c! + 10 * y! + x!)

const picture = (text: string, rows: number, columns: number) =>
  withPair(tensor(SHAPE, REFERENCE), tensor(SHAPE, TARGET), (pair) =>
    readPicture(pair, layOutSlice(SHAPE, parseSlice(text, SHAPE)), { rows, columns }),
  )

test('a slice is read along any two axes', async () => {
  expect(Array.from((await picture('1,:,:,-1', 9, 9)).error)).toEqual([
    1004, 1014, 1024, 1034, 1104, 1114, 1124, 1134, 1204, 1214, 1224, 1234,
  ])
  expect(Array.from((await picture(':,0,0,:', 9, 9)).target)).toEqual([0, 1, 2, 3, 4, 1000, 1001, 1002, 1003, 1004])
  expect(Array.from((await picture('0,0,0,:', 9, 9)).target)).toEqual([0, 1, 2, 3, 4])
})

test('a large one is made smaller by its largest errors', async () => {
  const small = await picture('0,0,:,:', 2, 2)
  expect([small.rows, small.columns, small.cellRows, small.cellColumns]).toEqual([2, 2, 2, 3])
  expect(Array.from(small.error)).toEqual([12, 14, 32, 34])
})

test('a row that is longer than one read is put together of its parts', async () => {
  const shape = [600_000]
  const values = new Array<number>(600_000).fill(1)
  const changed = values.with(3, 2).with(262_144, 4).with(599_999, 3)
  const found = await withPair(tensor(shape, values), tensor(shape, changed), (pair) => {
    const counts: number[] = []
    const target = {
      ...pair.target,
      read: (...args: Parameters<typeof pair.target.read>) => {
        counts.push(args[1])
        pair.target.read(...args)
      },
    }
    const grid = layOutSlice(shape, [null])
    return { picture: readPicture({ ...pair, target }, grid, { rows: 9, columns: 6 }), counts }
  })
  expect(Array.from(found.picture.error)).toEqual([1, 0, 3, 0, 0, 2])
  expect(found.counts).toEqual([262_144, 262_144, 75_712])
})

test('a place that is NaN on one side is not hidden by its neighbours', async () => {
  const holed = TARGET.with(6, Number.NaN)
  const found = await withPair(tensor(SHAPE, REFERENCE), tensor(SHAPE, holed), (pair) =>
    readPicture(pair, layOutSlice(SHAPE, [0, 0, null, null]), { rows: 1, columns: 1 }),
  )
  expect(found.error[0]).toBeNaN()
})

test('around a place at the edge as many values are shown as around any other', async () => {
  const at = [1, 2, 3, 4]
  const grid = layOutSlice(SHAPE, chooseSlice(at, SHAPE)!)
  const found = await withPair(tensor(SHAPE, REFERENCE), tensor(SHAPE, TARGET), (pair) =>
    readNeighbours(pair, grid, at, { rows: 2, columns: 3 }),
  )
  expect(found).toMatchObject({ firstRow: 2, firstColumn: 2, target: [1222, 1223, 1224, 1232, 1233, 1234] })
})
