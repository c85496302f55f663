import { describe, expect, test } from 'vitest'
import type { OutputResult } from '../../domain/result.ts'
import { insideBand } from './inside-band.ts'

function output(changes: Partial<OutputResult> = {}, relL2 = 0.01, maxAbs = 0.1): OutputResult {
  return {
    name: 'y',
    dtype: 'float32',
    shape: [4],
    verdict: 'fail',
    rule: '',
    flags: ['over-tolerance'],
    metrics: [
      { name: 'rel_l2', direction: 'lower', value: relL2, count: 4 },
      { name: 'max_abs', direction: 'lower', value: maxAbs, count: 4 },
    ],
    mismatches: null,
    worst: [],
    ...changes,
  }
}

const BAND = { output: 'y', relL2: 0.02, maxAbs: 0.2, by: 'one ulp on the input', samples: 4, margin: 1 }

describe('the sensitivity band', () => {
  test('holds a float that is over tolerance and within both limits', () => {
    expect(insideBand([output(), output({ name: 'z', verdict: 'pass' })], [BAND])).toBe(true)
  })

  test.each([
    ['relL2 is outside', output({}, 0.03)],
    ['the worst error is outside', output({}, 0.01, 0.3)],
    ['relL2 is NaN', output({}, Number.NaN)],
    ['values are not finite', output({ flags: ['non-finite'] })],
    ['the shape differs', output({ flags: ['shape'], metrics: [] })],
    ['it is an integer', output({ dtype: 'int64' })],
    ['it failed by another rule', output({ flags: [] })],
    ['it has no band', output({ name: 'other' })],
    ['it could not be judged', output({ verdict: 'error' })],
    ['it did not fail', output({ verdict: 'pass' })],
  ])('does not excuse an output when %s', (_why, failed) => {
    expect(insideBand([failed], [BAND])).toBe(false)
  })

  test('one failure outside makes the whole outside', () => {
    expect(insideBand([output(), output({ name: 'z' })], [BAND])).toBe(false)
  })

  test('a band without end excuses nothing', () => {
    expect(insideBand([output()], [{ ...BAND, relL2: Number.POSITIVE_INFINITY }])).toBe(false)
  })
})

test('a margin widens the band for relL2 and for the worst error alike', () => {
  const failing = output({}, 0.025, 0.25)
  expect(insideBand([failing], [BAND])).toBe(false)
  expect(insideBand([failing], [{ ...BAND, margin: 1.5 }])).toBe(true)
  expect(insideBand([output({}, 0.025, 0.35)], [{ ...BAND, margin: 1.5 }])).toBe(false)
})
