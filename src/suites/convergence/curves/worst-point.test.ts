import { describe, expect, test } from 'vitest'
import type { JudgedPoint } from './contract.ts'
import { furthestPoint, worstFirst, worstPoint } from './worst-point.ts'

const POINT: JudgedPoint = {
  ...{ step: 1, replay: 0, reference: 1, target: 1, isWarmUp: false, passes: true },
  ...{ low: null, high: null, edges: 'allowed' },
}
const point = (more: Partial<JudgedPoint>): JudgedPoint => ({ ...POINT, ...more })

describe('the worst point', () => {
  const worstStep = (points: Partial<JudgedPoint>[]) =>
    worstPoint(points.map((more, step) => point({ step, ...more })))?.step

  test('is the farthest beyond its limit, by the width of the limit', () => {
    const wide = { reference: 10, high: 20, target: 25 }
    const narrow = { reference: 10, high: 10.1, target: 10.3 }
    expect(worstStep([wide, narrow])).toBe(1)
    expect(worstStep([{ ...narrow, low: 9.9, target: 9.7 }, wide])).toBe(0)
  })

  test('is what is not finite, before anything else', () => {
    expect(
      worstStep([
        { high: 1, target: 1e300 },
        { high: 1, target: Number.NaN },
      ]),
    ).toBe(1)
    expect(
      worstStep([
        { high: 1, target: 9 },
        { isWarmUp: true, target: Number.NaN },
      ]),
    ).toBe(1)
  })

  test('of limits without a width is the farthest', () => {
    expect(
      worstStep([
        { low: 1, high: 1, target: 1.1 },
        { low: 1, high: 1, target: 0.5 },
      ]),
    ).toBe(1)
  })

  test('of points that all pass is the nearest to its limit', () => {
    expect(
      worstStep([
        { high: 2, target: 1 },
        { high: 2, target: 1.9 },
        { high: 2, target: 0 },
      ]),
    ).toBe(1)
  })

  test('of what must be elsewhere is the deepest inside', () => {
    const outside = { low: 0, high: 2, edges: 'outside' } as const
    expect(
      worstStep([
        { ...outside, target: 0.1 },
        { ...outside, target: 1.1 },
        { ...outside, target: 3 },
      ]),
    ).toBe(1)
  })

  test('is none where nothing has a limit', () => {
    expect(worstStep([{}, { isWarmUp: true, target: 99 }])).toBeUndefined()
  })
})

test('those beyond their limits by the same measure, with those that nothing is allowed for before them', () => {
  const points = [
    point({ step: 1, reference: 10, high: 20, target: 25 }),
    point({ step: 2, high: 1.1, target: 1.3 }),
    point({ step: 3, edges: 'outside', target: 1.2, passes: false }),
  ]
  expect(worstFirst(points).map(({ step }) => step)).toEqual([3, 2, 1])
})

describe('a curve is looked at', () => {
  const at = (...points: Partial<JudgedPoint>[]) => furthestPoint(points.map((more, step) => point({ step, ...more })))

  test('where it is worst beyond its limit, not where it is furthest from what was recorded', () => {
    expect(at({ high: 9, target: 8 }, { high: 1.01, target: 1.1, passes: false })?.step).toBe(1)
    expect(at({ low: 0, high: 2, edges: 'outside', passes: false }, { high: 9, target: 8 })?.step).toBe(0)
  })

  test('where it is furthest from what was recorded, if nothing is beyond', () => {
    expect(at({ target: 1.1 }, { target: 0.5, high: 1 }, { reference: 0, target: 0.3 })?.step).toBe(1)
  })

  test('nowhere without points', () => {
    expect(at()).toBeNull()
  })
})
