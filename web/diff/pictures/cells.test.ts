import { describe, expect, test } from 'vitest'
import type { PairLimits } from '../../../src/compare/pairs/pair-statistics.ts'
import { layOutWrapped } from '../../../src/compare/slice/grid.ts'
import { encodeNumbers } from '../../../src/tensors/encode.ts'
import { cellAt, findPlace, judge, type LoadedSlice, layOut, shownPlace, valueRange } from './cells.ts'
import { pickCells } from './paint.ts'

const LIMITS: PairLimits = { rtol: 0, constant: 0.5, relL2: null, ulps: 0, ulpDType: null }

function loaded(rows: number, cols: number, reference: number[], target: number[]): LoadedSlice {
  const raw = (values: number[]) => ({ dtype: 'float32', bytes: encodeNumbers('float32', values) }) as const
  const window = { row: 0, col: 0, rows, cols }
  const byteLengths = { reference: reference.length * 4, target: target.length * 4 }
  const header = { window, rowStep: 1, colStep: 1, byteLengths, placesByteLength: 0, limits: LIMITS, tally: null }
  return { header, raw: { reference: raw(reference), target: raw(target) }, places: new Uint32Array(0) }
}

const SIX = [1, 2, 3, 4, 5, 6]

describe('the cells of a slice', () => {
  const slice = loaded(2, 3, SIX, SIX.with(3, 9))

  test('lie as in the tensor', () => {
    const cells = layOut(slice, layOutWrapped([2, 3], [null, null]), false)
    expect([cells.rows, cells.cols, [...cells.positions]]).toEqual([2, 3, [0, 1, 2, 3, 4, 5]])
    expect(cells.numbers.target![cells.positions[cellAt(cells, { row: 1, col: 0 })!]!]).toBe(9)
    expect(cellAt(cells, { row: 2, col: 0 })).toBeNull()
  })

  test('lie turned where rows are the later dimension', () => {
    const cells = layOut(slice, layOutWrapped([2, 3], [null, null]), true)
    expect([cells.rows, cells.cols, [...cells.positions]]).toEqual([3, 2, [0, 3, 1, 4, 2, 5]])
    expect(cells.numbers.target![cells.positions[cellAt(cells, { row: 0, col: 1 })!]!]).toBe(9)
  })

  test('are judged by any limits, and have a range', () => {
    const cells = layOut(slice, layOutWrapped([2, 3], [null, null]), false)
    expect(judge(cells, LIMITS)?.tally.counts).toEqual([5, 0, 1, 0])
    expect(judge(cells, { ...LIMITS, constant: 5 })?.tally.counts).toEqual([5, 1, 0, 0])
    expect(valueRange(cells)).toEqual({ least: 1, most: 9 })
  })

  test('end where a wrapped dimension does', () => {
    const values = Array.from({ length: 35 }, (_, i) => i)
    const cells = layOut(loaded(5, 8, values, values), layOutWrapped([35], [null]), false)
    expect(cellAt(cells, { row: 4, col: 2 })).toBe(34)
    expect(cellAt(cells, { row: 4, col: 3 })).toBeNull()
  })
})

describe('cells that stand for blocks', () => {
  const header = {
    ...loaded(2, 3, SIX, SIX).header,
    window: { row: 0, col: 0, rows: 4096, cols: 6144 },
    rowStep: 2,
    colStep: 3,
  }
  const count = 2048 * 2048
  const bytes = new Uint8Array(count)
  const raw = { reference: { dtype: 'int8', bytes }, target: { dtype: 'int8', bytes } } as const
  const slice: LoadedSlice = { header, raw, places: new Uint32Array(count).fill(5) }

  test.each([
    [false, { row: 1, col: 5 }],
    [true, { row: 5, col: 1 }],
  ])('know the place of their element (turned: %s)', (isTurned, place) => {
    const cells = layOut(slice, layOutWrapped([4096, 6144], [null, null]), isTurned)
    expect(findPlace(cells, cellAt(cells, isTurned ? { row: 3, col: 0 } : { row: 0, col: 3 })!)).toEqual(place)
  })

  test('lead to the element that they show, from each of their places', () => {
    const cells = layOut(slice, layOutWrapped([4096, 6144], [null, null]), false)
    expect(shownPlace(cells, { row: 2, col: 7 })).toEqual({ row: 3, col: 8 })
    expect(shownPlace({ ...cells, slice: loaded(2, 3, SIX, SIX) }, { row: 1, col: 1 })).toEqual({ row: 1, col: 1 })
    expect(shownPlace(null, { row: 1, col: 1 })).toEqual({ row: 1, col: 1 })
  })

  test('are stale under other limits, because others may be the worst then', () => {
    const tally = { counts: [1, 0, 0, 0], bins: [], maxReference: 0, maxError: 0 } as const
    const counted = { ...slice, header: { ...header, tally } }
    const cells = layOut(counted, layOutWrapped([4096, 6144], [null, null]), false)
    expect(judge(cells, LIMITS)).toMatchObject({ isStale: false, tally })
    expect(judge(cells, { ...LIMITS, rtol: 0.1 })?.isStale).toBe(true)
  })
})

describe('the pixels of a picture', () => {
  const values = Array.from({ length: 100 }, () => 1)
  const cells = layOut(loaded(10, 10, values, values.with(37, 2)), layOutWrapped([10, 10], [null, null]), false)
  const { severities } = judge(cells, LIMITS)!
  const whole = { row: 0, col: 0, rows: 10, cols: 10 }

  test.each([
    [1, 1],
    [3, 3],
    [7, 2],
    [10, 10],
    [33, 25],
  ])('%d × %d show the one cell that is over', (width, height) => {
    expect(pickCells(cells, severities, whole, width, height)).toContain(37)
  })

  test('show every cell where there is room, each where it belongs', () => {
    const picked = pickCells(cells, severities, whole, 20, 20)
    expect(picked[0]).toBe(0)
    expect([picked[6 * 20 + 14], picked[7 * 20 + 15], picked[8 * 20 + 14]]).toEqual([37, 37, 47])
    expect(new Set(picked).size).toBe(100)
  })

  test('show a part of them when zoomed, and nothing beyond what is loaded', () => {
    expect([...pickCells(cells, severities, { row: 3, col: 7, rows: 1, cols: 2 }, 2, 1)]).toEqual([37, 38])
    expect([...pickCells(cells, severities, { row: 9, col: 9, rows: 2, cols: 2 }, 2, 2)]).toEqual([99, -1, -1, -1])
  })
})
