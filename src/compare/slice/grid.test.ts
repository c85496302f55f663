import { expect, test } from 'vitest'
import { cellCount, cellsInRow, elementAt, layOutSlice, layOutWrapped, wrapWidth } from './grid.ts'

const SHAPE = [2, 3, 4]

test('the earlier of two free axes gives the rows', () => {
  const grid = { index: [null, 1, null], rowAxis: 0, colAxis: 2, rows: 2, cols: 4, count: 8 }
  expect(layOutSlice(SHAPE, [null, 1, null])).toEqual({ ...grid, first: 4, rowStride: 12, colStride: 1 })
  expect(layOutWrapped(SHAPE, [null, 1, null])).toEqual(layOutSlice(SHAPE, [null, 1, null]))
})

test('a lone axis is a row, or wrapped to several', () => {
  const grid = { index: [null, 1], rowAxis: null, colAxis: 0, count: 70, first: 1, colStride: 2 }
  expect(layOutSlice([70, 2], [null, 1])).toEqual({ ...grid, rows: 1, cols: 70, rowStride: 0 })
  expect(layOutWrapped([70, 2], [null, 1])).toEqual({ ...grid, rows: 5, cols: 16, rowStride: 32 })
})

test('a single element is a grid of one cell', () => {
  expect(layOutSlice(SHAPE, [1, 2, 3])).toMatchObject({ rowAxis: null, colAxis: null, rows: 1, cols: 1, first: 23 })
  expect(layOutWrapped([], [])).toMatchObject({ rows: 1, cols: 1, count: 1, first: 0 })
})

test('an axis without elements gives no rows', () => {
  expect(layOutWrapped([0], [null])).toMatchObject({ rows: 0, cols: 1, count: 0 })
})

test('short axes are not wrapped, long ones to about a square', () => {
  expect([0, 1, 32, 33, 70, 4096, 5000].map(wrapWidth)).toEqual([1, 1, 32, 8, 16, 64, 128])
})

test('cells are found in the tensor', () => {
  const grid = layOutSlice(SHAPE, [null, 1, null])
  expect(elementAt(grid, 1, 3)).toBe(19)
})

test('the last row of a wrapped axis ends where the tensor does', () => {
  const grid = layOutWrapped([70], [null])
  const window = { row: 3, col: 4, rows: 2, cols: 12 }
  expect([cellsInRow(grid, 3, window), cellsInRow(grid, 4, window), cellCount(grid, window)]).toEqual([12, 2, 14])
})
