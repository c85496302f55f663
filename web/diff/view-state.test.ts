import { describe, expect, test } from 'vitest'
import type { ShownPair } from '../../src/compare/slice/contract.ts'
import {
  cursorCell,
  defaultState,
  formatHash,
  indexAt,
  isTurned,
  parseHash,
  pictureGrid,
  shownTensor,
  withAxis,
} from './view-state.ts'

const tensorOf = (shape: number[]) => ({ dtype: 'float32', shape, isComplex: false }) as const
const pairOf = (shape: number[]): ShownPair => {
  return { name: 'x', reference: tensorOf(shape), target: tensorOf(shape) }
}
const pairs = [pairOf([2, 3, 40, 50]), pairOf([1, 1000]), pairOf([])]

describe('the state in a link', () => {
  test('is read back as it was', () => {
    const view = { row: 3, col: 4, rows: 5, cols: 6 }
    const state = {
      pair: 0,
      axes: [3, 1],
      index: [1, 2, 39, 49],
      isPlaced: true,
      view: null,
      tolerance: { rtol: 1e-3, atol: 0 },
    }
    expect(formatHash(state)).toBe('#pair=0&axes=3,1&index=1,2,39,49&rtol=0.001&atol=0')
    expect(parseHash(formatHash(state), pairs)).toEqual(state)
    const zoomed = { ...state, axes: [2, 3], view }
    expect(parseHash(formatHash(zoomed), pairs)).toEqual(zoomed)
    expect(parseHash(formatHash(defaultState(2, tensorOf([]))), pairs)).toEqual(defaultState(2, tensorOf([])))
  })

  test.each([
    '',
    '#pair=7',
    '#pair=0&axes=3,3',
    '#axes=4,9',
    '#axes=1',
    '#index=0,0,0,50',
    '#index=0,0',
    '#index=-1,0,0,0',
    '#view=0,0,41,50',
    '#view=0,0,0,0',
    '#rtol=1&atol=0',
    '#rtol=0.1',
    '#rtol=x&atol=NaN',
    '#pair=<img src=x onerror=alert(1)>',
  ])('%s that fits nothing gives the default', (hash) => {
    expect(parseHash(hash, pairs)).toEqual(defaultState(0, tensorOf([2, 3, 40, 50])))
  })
})

describe('the picture', () => {
  test('has the last two long dimensions, a lone one wrapped, a number none', () => {
    const axes = pairs.map((pair, i) => defaultState(i, shownTensor(pair)).axes)
    expect(axes).toEqual([[2, 3], [1], []])
    expect(pictureGrid([1, 1000], defaultState(1, tensorOf([1, 1000])))).toMatchObject({
      rows: 32,
      cols: 32,
      count: 1000,
    })
  })

  test('leaves the parts of complex numbers out', () => {
    expect(defaultState(0, { ...tensorOf([4, 5, 2]), isComplex: true }).axes).toEqual([0, 1])
  })

  test('can be turned', () => {
    const state = withAxis(withAxis(defaultState(0, tensorOf([2, 3, 40, 50])), 0, 3), 1, 0)
    expect([state.axes, isTurned(state)]).toEqual([[3, 0], true])
    expect(pictureGrid([2, 3, 40, 50], state)).toMatchObject({ rows: 50, cols: 2, rowStride: 1, colStride: 6000 })
  })

  test('two dimensions trade places when one is asked to be the other', () => {
    expect(withAxis(defaultState(0, tensorOf([2, 3, 40, 50])), 0, 3).axes).toEqual([3, 2])
  })

  test('knows the element of a cell and the cell of an element', () => {
    const state = { ...defaultState(1, tensorOf([1, 1000])), index: [0, 70] }
    expect(cursorCell(state, [1, 1000])).toEqual({ row: 2, col: 6 })
    expect(indexAt(state, [1, 1000], { row: 31, col: 7 })).toEqual([0, 999])
    expect(indexAt(state, [1, 1000], { row: 31, col: 8 })).toBeNull()
    const four = defaultState(0, tensorOf([2, 3, 40, 50]))
    expect(indexAt(four, [2, 3, 40, 50], { row: 7, col: 9 })).toEqual([0, 0, 7, 9])
  })
})
