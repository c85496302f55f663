import { describe, expect, test } from 'vitest'
import { encodeBigInts, encodeNumbers } from '../../tensors/encode.ts'
import { type LayerDTypes, LayerMeter } from './layer-meter.ts'
import { layerMetrics } from './layer-metrics.ts'

/** Both sides as one stretch, or in pieces of so many elements. */
function measure(reference: number[], target: number[], shape: number[], piece = Infinity, dtypes = BOTH_FLOAT32) {
  const meter = new LayerMeter(dtypes, shape.at(-1) ?? null)
  const one = encodeNumbers(dtypes.reference, reference)
  const two = encodeNumbers(dtypes.target, target)
  for (let first = 0; first < reference.length; first += piece) {
    const elements = Math.min(piece, reference.length - first)
    meter.add({ bytes: one, first }, { bytes: two, first }, elements)
  }
  return Object.fromEntries(layerMetrics(meter.sums).map(({ name, value }) => [name, value]))
}

const BOTH_FLOAT32: LayerDTypes = { reference: 'float32', target: 'float32' }
const { NaN: nan, POSITIVE_INFINITY: inf } = Number

describe('the documented example', () => {
  const reference = [1, 2, 3, 0.5, -1, 2, 1, 0, -1]
  const target = [1.1, 1.9, 3.2, 0.5, -1, 2, 1, 1, 1]

  test('has the documented numbers', () => {
    const found = measure(reference, target, [1, 3, 3])
    expect(found.l2).toBeCloseTo(2.2494443821997985, 14)
    expect(found.mean_abs).toBeCloseTo(0.3777777883741591, 14)
    expect(found.cosine).toBeCloseTo(0.8873940167110759, 14)
    expect(found.row_cosine).toBeCloseTo((0.9985998868942261 + 0.9999999403953552 + 0) / 3, 7)
    expect(found.least_row_cosine).toBeCloseTo(0, 15)
    expect(found).toMatchObject({ max_abs: 2, zero_rows: 0, rmse: found.l2! / 3 })
    expect(found.snr_db).toBeCloseTo(-20 * Math.log10(found.rel_l2!), 12)
  })

  test.each([1, 2, 4, 5])('has the same numbers in pieces of %i', (piece) => {
    expect(measure(reference, target, [1, 3, 3], piece)).toEqual(measure(reference, target, [1, 3, 3]))
  })

  test('counts signs as the documented cos_sim does: seven pairs agree, one does not, one has a zero', () => {
    expect(measure(reference, target, [9]).sign_agreement).toBeCloseTo((7 - 1) / 9, 15)
  })
})

test('long rows are measured as whole rows, whatever is decoded at once', () => {
  const values = Array.from({ length: 30_000 }, (_, i) => Math.fround(Math.sin(i)))
  const found = measure(
    values,
    values.map((value) => -value),
    [3, 10_000],
  )
  expect(found).toMatchObject({
    cosine: -1,
    row_cosine: -1,
    least_row_cosine: -1,
    zero_rows: 0,
    sign_agreement: expect.closeTo(-1, 3),
  })
})

describe('zeros', () => {
  test('a row that is zero on one side has no cosine and is counted', () => {
    const found = measure([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 2, 2], [3, 2])
    expect(found).toMatchObject({ zero_rows: 2, row_cosine: expect.closeTo(1, 15) })
  })

  test('rows that are all zero leave no cosine, not a perfect one', () => {
    const found = measure([0, 0], [0, 0], [1, 2])
    expect(found).toMatchObject({ cosine: null, row_cosine: null, rel_l2: 0, snr_db: inf, max_abs: 0 })
  })

  test('a reference of zeros has an infinite relative error', () => {
    expect(measure([0, 0], [1, 0], [2])).toMatchObject({ rel_l2: inf, snr_db: -inf, cosine: null })
  })

  test('no elements at all give no numbers', () => {
    expect(measure([], [], [0, 4])).toMatchObject({ mean_abs: null, max_abs: null, rel_l2: null, cosine: null })
  })
})

describe('numbers that are not finite', () => {
  test('are counted and in no sum', () => {
    const found = measure([1, nan, inf, 2], [1.5, nan, -inf, inf], [4])
    expect(found).toMatchObject({ max_abs: 0.5, mean_abs: 0.5, l2: 0.5 })
    expect(found).toMatchObject({ nonfinite_reference: 2, nonfinite_target: 3, nonfinite_mismatch: 2 })
  })

  test('alone are no perfect agreement', () => {
    const found = measure([1, 2], [nan, nan], [2])
    expect(found).toMatchObject({
      max_abs: null,
      rel_l2: null,
      cosine: null,
      nonfinite_target: 2,
      nonfinite_mismatch: 2,
    })
  })
})

test('sides of two precisions are compared as numbers', () => {
  const dtypes: LayerDTypes = { reference: 'float32', target: 'bfloat16' }
  expect(measure([1, 2, 1.00390625], [1, 2, 1], [3], 2, dtypes)).toMatchObject({ max_abs: 0.00390625 })
})

test('complex numbers count as two', () => {
  const dtypes: LayerDTypes = { reference: 'complex64', target: 'complex64' }
  const meter = new LayerMeter(dtypes, 1)
  const [one, two] = [
    [3, 4],
    [3, 5],
  ].map((parts) => encodeNumbers('complex64', parts))
  meter.add({ bytes: one!, first: 0 }, { bytes: two!, first: 0 }, 1)
  expect(meter.sums).toMatchObject({ count: 2, finite: 2, maxAbs: 1, rows: { count: 1 } })
})

test('64-bit integers that are the same float64 differ', () => {
  const meter = new LayerMeter({ reference: 'int64', target: 'int64' }, null)
  const [one, two] = [2n ** 53n, 2n ** 53n + 1n].map((last) => encodeBigInts('int64', [5n, last]))
  meter.add({ bytes: one!, first: 0 }, { bytes: two!, first: 0 }, 2)
  expect(meter.sums).toMatchObject({ maxAbs: 1, squares: { difference: 1 } })
})

test('without rows there are no cosines of rows', () => {
  const meter = new LayerMeter(BOTH_FLOAT32, null)
  const bytes = encodeNumbers('float32', [3, 4])
  meter.add({ bytes, first: 0 }, { bytes, first: 0 }, 2)
  expect(meter.sums).toMatchObject({ squares: { reference: 25 }, rows: { count: 0, leastCosine: null } })
})

test('equal sides have a cosine of exactly 1', () => {
  expect(measure([0.1, 0.7, -0.3], [0.1, 0.7, -0.3], [3])).toMatchObject({ cosine: 1, row_cosine: 1, rel_l2: 0 })
})

test.each([1e-200, 1e200])('numbers around %s have squares beyond float64, and no norms', (scale) => {
  const dtypes: LayerDTypes = { reference: 'float64', target: 'float64' }
  const found = measure([scale, scale], [2 * scale, scale], [2], Infinity, dtypes)
  expect(found).toMatchObject({ max_abs: scale, l2: null, rel_l2: null, snr_db: null, cosine: null, row_cosine: null })
})
