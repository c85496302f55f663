import { describe, expect, test } from 'vitest'
import type { DType } from '../../domain/dtype.ts'
import type { Metric, OutputResult } from '../../domain/result.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { compareTensors } from '../compare-tensors.ts'
import { tableRule } from '../rules/tolerances.ts'
import { worstMetrics } from './metrics.ts'

function compare(dtype: DType, reference: ArrayLike<number>, target: ArrayLike<number>): Promise<OutputResult> {
  const source = (values: ArrayLike<number>) =>
    memorySource('y', { dtype, shape: [values.length], bytes: encodeNumbers(dtype, values) })
  return compareTensors(source(reference), source(target), tableRule('float32', 'model'), {
    generated: false,
    targetDType: null,
  })
}

function valuesOf(result: OutputResult): Record<string, number | null> {
  return Object.fromEntries(result.metrics.map(({ name, value }) => [name, value]))
}

/** The definitions, written down plainly. */
function slowMetrics(r: Float64Array, t: Float64Array) {
  const abs = r.map((value, i) => Math.abs(t[i]! - value))
  const relative = abs.map((error, i) => error / Math.abs(r[i]!)).filter((_, i) => r[i] !== 0)
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0)
  const dot = (a: Float64Array, b: Float64Array) => sum(a.map((value, i) => value * b[i]!))
  const rank = (values: Float64Array, q: number) => values.slice().sort()[Math.ceil(q * values.length) - 1]!
  return {
    max_abs: Math.max(...abs),
    mean_abs: sum(abs) / abs.length,
    median_abs: rank(abs, 0.5),
    p99_abs: rank(abs, 0.99),
    max_rel: Math.max(...relative),
    mean_rel: sum(relative) / relative.length,
    median_rel: rank(relative, 0.5),
    p99_rel: rank(relative, 0.99),
    rmse: Math.sqrt(dot(abs, abs) / abs.length),
    rel_l2: Math.sqrt(dot(abs, abs) / dot(r, r)),
    snr_db: 10 * Math.log10(dot(r, r) / dot(abs, abs)),
    cosine: dot(r, t) / Math.sqrt(dot(r, r) * dot(t, t)),
  }
}

function wave(count: number, shift: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) =>
    i % 11 === 0 ? 0 : Math.sin(i * 0.7) * (1 + (i % 7)) + shift * Math.cos(i * 1.3),
  )
}

describe('metrics', () => {
  test.each([
    ['a small tensor', 1000, 1e-12],
    ['a large one, with quantiles from a histogram', 90_000, 4e-3],
  ])('of %s agree with the slow formulas', async (_what, count, quantileError) => {
    const [r, t] = [wave(count, 0), wave(count, 0.01)]
    const fast = valuesOf(await compare('float64', r, t))
    for (const [name, value] of Object.entries(slowMetrics(r, t))) {
      const tolerance = /median|p99/.test(name) ? quantileError : 1e-9
      expect(Math.abs(fast[name]! - value), `${name}: ${fast[name]} against ${value}`).toBeLessThanOrEqual(
        tolerance * Math.abs(value),
      )
    }
  })

  test('do not depend on the scale of the tensors', async () => {
    const [r, t] = [wave(10_000, 0), wave(10_000, 0.01)]
    const usual = valuesOf(await compare('float64', r, t))
    const tiny = valuesOf(
      await compare(
        'float64',
        r.map((v) => v * 2 ** -700),
        t.map((v) => v * 2 ** -700),
      ),
    )
    for (const name of ['max_rel', 'p99_rel', 'rel_l2', 'snr_db', 'cosine']) expect(tiny[name]).toBe(usual[name])
    for (const name of ['max_abs', 'mean_abs', 'p99_abs', 'rmse']) expect(tiny[name]).toBe(usual[name]! * 2 ** -700)
  })

  test('the cosine of nearly equal tensors is accurate where the plain formula is not', async () => {
    const r = Float64Array.from({ length: 4 }, (_, i) => i + 1)
    const t = Float64Array.of(1, 2, 3, 4 + 1e-7)
    const oneMinus = 1 - valuesOf(await compare('float64', r, t)).cosine!
    // sin² of the angle between r and r + e is ‖e⊥‖² / ‖r‖², and 1 − cos is half of that.
    expect(oneMinus).toBeCloseTo((1e-14 * (1 - 16 / 30)) / 30 / 2, 16)
  })

  test.each([1e4, 1e-4])('the cosine has its digits where the target is %d times as large', async (factor) => {
    const r = wave(10_000, 0).map(Math.fround)
    const t = wave(10_000, 3).map((value) => Math.fround(value * factor))
    const { cosine } = valuesOf(await compare('float32', r, t))
    expect(cosine).toBeCloseTo(slowMetrics(r, t).cosine, 10)
  })

  test('of opposite and of orthogonal tensors', async () => {
    expect(valuesOf(await compare('float32', [1, 2], [-1, -2])).cosine).toBeCloseTo(-1, 12)
    expect(valuesOf(await compare('float32', [1, 0], [0, 1])).cosine).toBeCloseTo(0, 12)
  })

  test('of identical tensors', async () => {
    const metrics = valuesOf(await compare('float32', [1, 0, -3], [1, 0, -3]))
    expect(metrics).toMatchObject({
      max_abs: 0,
      rel_l2: 0,
      max_ulp: 0,
      cosine: 1,
      snr_db: Number.POSITIVE_INFINITY,
      mismatch_fraction: 0,
    })
  })

  test('of a zero reference: no relative error and no cosine, with the reason', async () => {
    const result = await compare('float32', [0, 0], [0, 1])
    expect(valuesOf(result)).toMatchObject({
      max_abs: 1,
      max_rel: null,
      cosine: null,
      rel_l2: Number.POSITIVE_INFINITY,
      snr_db: Number.NEGATIVE_INFINITY,
    })
    expect(result.metrics.find(({ name }) => name === 'max_rel')).toMatchObject({
      count: 0,
      reason: 'the reference is zero everywhere',
    })
  })

  test('relative errors are over the places where the reference is not zero', async () => {
    const result = await compare('float32', [0, 2], [5, 3])
    expect(result.metrics.find(({ name }) => name === 'max_rel')).toMatchObject({ value: 0.5, count: 1 })
  })

  test('ulps are counted in the dtype of the tensor', async () => {
    expect(valuesOf(await compare('float32', [1, 2], [1 + 3 * 2 ** -23, 2])).max_ulp).toBe(3)
    expect(valuesOf(await compare('bfloat16', [1, 2], [1 + 2 ** -7, 2])).max_ulp).toBe(1)
  })

  test('thresholds come with their provenance', async () => {
    const { metrics } = await compare('float32', [1, 2], [1, 2])
    expect(metrics.filter(({ threshold }) => threshold !== undefined)).toMatchObject([
      { name: 'rel_l2', threshold: 1e-4, provenance: 'float32 whole model (table)' },
      { name: 'nonfinite_mismatch', threshold: 0 },
      { name: 'mismatch_fraction', threshold: 0, provenance: 'float32 whole model (table)' },
    ])
  })
})

describe('the worst metrics over outputs', () => {
  const metric = (value: number | null, threshold?: number): Metric => ({
    name: 'rel_l2',
    direction: 'lower',
    value,
    count: 1,
    ...(threshold === undefined ? {} : { threshold }),
  })
  const worst = (...metrics: Metric[]) => worstMetrics(metrics.map((m) => ({ metrics: [m] })))[0]

  test('are the largest where lower is better, and NaN is larger than all', () => {
    expect(worst(metric(1), metric(3), metric(2))?.value).toBe(3)
    expect(worst(metric(1), metric(Number.NaN), metric(2))?.value).toBe(Number.NaN)
  })

  test('one over its threshold is worse than a larger one within', () => {
    expect(worst(metric(1e-3, 1e-2), metric(5e-4, 1e-4))?.value).toBe(5e-4)
  })

  test('a missing value is worse than none', () => {
    expect(worst(metric(null), metric(1))?.value).toBe(1)
  })

  test('are the smallest where higher is better', () => {
    const snr = (value: number): Metric => ({ name: 'snr_db', direction: 'higher', value, count: 1 })
    expect(worst(snr(20), snr(-3), snr(Number.POSITIVE_INFINITY))?.value).toBe(-3)
  })
})
