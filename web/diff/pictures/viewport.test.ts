import { describe, expect, test } from 'vitest'
import { around, showing, whole, within, zoom } from './viewport.ts'

const size = { rows: 100, cols: 200 }
const middle = { x: 0.5, y: 0.5 }

describe('zooming', () => {
  test('keeps the place under the pointer', () => {
    expect(zoom(whole(size), size, 0.5, { x: 0, y: 1 })).toEqual({ row: 50, col: 0, rows: 50, cols: 100 })
  })

  test('out again ends with everything', () => {
    const near = zoom(whole(size), size, 0.5, middle)!
    expect(near).toEqual({ row: 25, col: 50, rows: 50, cols: 100 })
    expect(zoom(near, size, 4, middle)).toBeNull()
  })

  test('stops at a few cells, and at all cells of a small picture', () => {
    expect(zoom(whole(size), size, 1e-6, middle)).toMatchObject({ rows: 4, cols: 4 })
    expect(zoom(whole({ rows: 2, cols: 3 }), { rows: 2, cols: 3 }, 0.1, middle)).toBeNull()
  })

  test('is never stuck', () => {
    expect(zoom({ row: 0, col: 0, rows: 4, cols: 4 }, size, 1.1, middle)).toMatchObject({ rows: 5, cols: 5 })
  })
})

test('a view stays inside', () => {
  expect(within({ row: -5, col: 190, rows: 10, cols: 20 }, size)).toEqual({ row: 0, col: 180, rows: 10, cols: 20 })
})

test('a view follows a cell that leaves it, and stays otherwise', () => {
  const view = { row: 10, col: 10, rows: 10, cols: 10 }
  expect(showing(view, { row: 15, col: 19 }, size)).toEqual(view)
  expect(showing(view, { row: 25, col: 3 }, size)).toEqual({ row: 16, col: 3, rows: 10, cols: 10 })
})

test('a place in a large picture is shown near, a small picture whole', () => {
  expect(around({ row: 50, col: 199 }, size)).toEqual({ row: 38, col: 152, rows: 24, cols: 48 })
  expect(around({ row: 5, col: 5 }, { rows: 96, cols: 96 })).toBeNull()
})
