import { describe, expect, test } from 'vitest'
import type { DType } from '../domain/dtype.ts'
import { compareTensors } from './compare-tensors.ts'
import type { Rule } from './contract.ts'
import { overrideTolerance, tableRule, toleranceFor } from './rules/tolerances.ts'
import { compare, EXACT, MODEL, metric, noise, tensor } from './testing/tensors.ts'

const { NaN: NAN, POSITIVE_INFINITY: INF } = Number

describe('values that are not finite', () => {
  test.each([
    ['NaN against a number', [1, NAN, 3], [1, 2, 3]],
    ['a number against NaN', [1, 2, 3], [1, NAN, 3]],
    ['an infinity against a number', [1, INF, 3], [1, 2, 3]],
    ['a number against an infinity', [1, 2, 3], [1, INF, 3]],
    ['an infinity against the other one', [1, INF, 3], [1, -INF, 3]],
    ['an infinity against NaN', [1, INF, 3], [1, NAN, 3]],
  ])('%s fails and is counted', async (_what, reference, target) => {
    const result = await compare(tensor('float32', reference), tensor('float32', target))
    expect(result.verdict).toBe('fail')
    expect(result.flags).toEqual(['non-finite'])
    expect(result.reason).toContain('1 of 3 values are NaN or infinite')
    expect(result.wouldPass).toContain('no tolerance')
    expect(metric(result, 'nonfinite_mismatch')).toBe(1)
    expect(metric(result, 'max_abs')).toBe(0)
    expect(result.worst[0]?.index).toEqual([1])
  })

  test('no allowed fraction excuses them', async () => {
    const rule: Rule = {
      kind: 'float',
      tolerance: overrideTolerance(toleranceFor('float32', 'model'), { rtol: 0.5, atol: 10, allowedMismatch: 0.9 }),
      source: 'given',
    }
    expect((await compare(tensor('float32', [1, 2]), tensor('float32', [NAN, 2]), rule)).verdict).toBe('fail')
  })

  test('NaN meets NaN and an infinity the same one', async () => {
    const values = [1, NAN, INF, -INF, 2]
    const result = await compare(tensor('float32', values), tensor('float32', values))
    expect(result.verdict).toBe('pass')
    expect(['nan_reference', 'nan_target', 'inf_reference', 'inf_target'].map((n) => metric(result, n))).toEqual([
      1, 1, 2, 2,
    ])
    expect(metric(result, 'max_abs')).toBe(0)
  })

  test('a float16 that overflows where the float32 reference does not fails', async () => {
    const context = { generated: false, targetDType: 'float16' } as const
    const rule = tableRule('float16', 'model')
    const result = await compareTensors(tensor('float32', [70000, 1]), tensor('float16', [70000, 1]), rule, context)
    expect(result.verdict).toBe('fail')
    expect(result.worst[0]).toMatchObject({ reference: '70000', target: 'Infinity', error: INF })
  })

  test('one NaN in a million elements fails and is found', async () => {
    const values = noise(1_000_000)
    const broken = values.slice()
    broken[654_321] = NAN
    const result = await compare(tensor('float32', values, [1000, 1000]), tensor('float32', broken, [1000, 1000]))
    expect(result.verdict).toBe('fail')
    expect(result.worst[0]?.index).toEqual([654, 321])
  })

  test('tensors of nothing but NaN have no error metrics, and say why', async () => {
    const result = await compare(tensor('float32', [NAN, NAN]), tensor('float32', [NAN, NAN]))
    expect(result.metrics.find((m) => m.name === 'rmse')).toMatchObject({
      value: null,
      reason: 'no value is finite on both sides',
    })
  })
})

describe('shape and dtype', () => {
  test('(6, 1) against (1, 6) fails although the values are the same', async () => {
    const values = [1, 2, 3, 4, 5, 6]
    const result = await compare(tensor('float32', values, [6, 1]), tensor('float32', values, [1, 6]))
    expect(result).toMatchObject({ verdict: 'fail', flags: ['shape'], mismatches: null })
    expect(result.reason).toBe('shape (1, 6), the reference has (6, 1)')
  })

  test('another dtype fails unless the target declares it', async () => {
    const [r, t] = [tensor('float32', [1, 2]), tensor('float16', [1, 2])]
    const rule = tableRule('float16', 'model')
    expect(await compare(r, t, rule)).toMatchObject({ verdict: 'fail', flags: ['dtype'] })
    expect((await compareTensors(r, t, rule, { generated: false, targetDType: 'float16' })).verdict).toBe('pass')
    expect((await compareTensors(r, t, rule, { generated: false, targetDType: 'bfloat16' })).verdict).toBe('fail')
  })

  test('a declared precision does not excuse integers of another width', async () => {
    const context = { generated: false, targetDType: 'int8' } as const
    expect((await compareTensors(tensor('int32', [1]), tensor('int8', [1]), EXACT, context)).verdict).toBe('fail')
  })

  test('empty tensors of the same shape pass, of another shape fail', async () => {
    expect((await compare(tensor('float32', [], [0, 3]), tensor('float32', [], [0, 3]))).verdict).toBe('pass')
    expect((await compare(tensor('float32', [], [0, 3]), tensor('float32', [], [3, 0]))).verdict).toBe('fail')
  })
})

describe('streaming', () => {
  test.each([
    ['float32', 4],
    ['float16', 2],
    ['int64', 8],
    ['uint4', 1],
  ] as const)('%s: unequal chunks give the same result as whole tensors', async (dtype, size) => {
    const values = noise(150_000).map((value) => Math.abs(Math.round(value * 15)))
    const moved = values.map((value, i) => (i === 149_999 ? (value + 1) % 16 : value))
    const whole = await compare(tensor(dtype, values), tensor(dtype, moved), EXACT)
    const chunked = await compare(
      tensor(dtype, values, [150_000], size * 7),
      tensor(dtype, moved, [150_000], size * 1000),
      EXACT,
    )
    expect(chunked).toEqual(whole)
    expect(whole).toMatchObject({
      verdict: 'fail',
      mismatches: { count: 1, of: 150_000 },
      worst: [{ index: [149_999] }],
    })
  })

  test('a source with too few or too many bytes cannot be judged', async () => {
    const honest = tensor('float32', [1, 2, 3])
    const { byteLength, ...rest } = honest
    const short = { ...rest, byteLength, chunks: tensor('float32', [1, 2]).chunks }
    const long = { ...rest, byteLength, chunks: tensor('float32', [1, 2, 3, 4]).chunks }
    await expect(compare(honest, short)).rejects.toThrow('of the target gave fewer than the 12 bytes')
    await expect(compare(honest, long)).rejects.toThrow('of the target gave more than the 12 bytes')
    await expect(compare({ ...honest, byteLength: 8 }, honest)).rejects.toThrow('has 8 bytes, but float32 (3) takes 12')
  })

  test('a recorded maximum is used, and one that is not the truth is refused', async () => {
    const reference = tensor('float32', [1, -4, NAN])
    expect((await compare({ ...reference, maxAbs: 4 }, reference)).verdict).toBe('pass')
    await expect(compare({ ...reference, maxAbs: 4000 }, reference)).rejects.toThrow('magnitude of 4000, found 4')
  })
})

describe('degenerate data', () => {
  test.each([
    ['zeros', [0, 0, 0]],
    ['ones', [1, 1, 1]],
    ['nothing but NaN', [NAN, NAN, NAN]],
  ])('%s on both sides are inconclusive on generated inputs', async (_what, values) => {
    const result = await compare(tensor('float32', values), tensor('float32', values), MODEL, true)
    expect(result).toMatchObject({ verdict: 'inconclusive', flags: ['degenerate'] })
    expect(result.reason).toContain('all 3 elements are the same')
    expect((await compare(tensor('float32', values), tensor('float32', values))).verdict).toBe('pass')
  })

  test('a single NaN, or infinities of both signs, prove nothing either', async () => {
    const reasonOf = async (values: number[]) => {
      const { verdict, reason } = await compare(tensor('float32', values), tensor('float32', values), MODEL, true)
      return `${verdict}: ${reason}`
    }
    expect(await reasonOf([NAN])).toContain('inconclusive: all 1 elements are the same')
    expect(await reasonOf([Infinity, -Infinity])).toContain('inconclusive: all 2 elements are NaN or infinite')
  })

  test('a difference stays a failure', async () => {
    expect((await compare(tensor('float32', [1, 1]), tensor('float32', [2, 2]), MODEL, true)).verdict).toBe('fail')
  })

  test('a complex constant is one of both parts', async () => {
    const verdict = async (values: number[]) => {
      const source = tensor('complex64', values, [values.length / 2])
      return (await compare(source, source, MODEL, true)).verdict
    }
    expect(await verdict([1, 2, 1, 2])).toBe('inconclusive')
    expect(await verdict([1, 2, 1, 3])).toBe('pass')
    expect(await verdict([1, 2])).toBe('pass')
  })

  test('single elements, integers and tensors that vary are judged', async () => {
    const verdict = async (dtype: DType, values: number[]) =>
      (await compare(tensor(dtype, values), tensor(dtype, values), MODEL, true)).verdict
    expect(await verdict('float32', [5])).toBe('pass')
    expect(await verdict('float32', [1, NAN])).toBe('pass')
    expect(await verdict('int32', [5, 5])).toBe('pass')
    expect(await verdict('float32', [...new Array(70_000).fill(1), 2])).toBe('pass')
  })
})
