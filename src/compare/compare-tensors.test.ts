import { describe, expect, test } from 'vitest'
import type { DType } from '../domain/dtype.ts'
import type { OutputResult } from '../domain/result.ts'
import type { TensorSource } from '../domain/tensor.ts'
import { encodeBigInts, encodeNumbers } from '../tensors/encode.ts'
import { memorySource } from '../tensors/memory-source.ts'
import { encodeStrings } from '../tensors/strings.ts'
import { compareTensors } from './compare-tensors.ts'
import type { Rule } from './contract.ts'
import { overrideTolerance, tableRule, toleranceFor } from './tolerances.ts'

const { NaN: NAN, POSITIVE_INFINITY: INF } = Number

function tensor(dtype: DType, values: ArrayLike<number>, shape = [values.length], chunkBytes?: number): TensorSource {
  return memorySource('y', { dtype, shape, bytes: encodeNumbers(dtype, values) }, chunkBytes)
}

function integers(values: bigint[], dtype: DType = 'int64'): TensorSource {
  return memorySource('y', { dtype, shape: [values.length], bytes: encodeBigInts(dtype, values) })
}

const MODEL = tableRule('float32', 'model')
const EXACT: Rule = { kind: 'exact', source: 'exact', flags: [] }
const QUANTISED: Rule = { kind: 'quantised', steps: 1, allowedMismatch: 0.01, source: 'quantised' }

function compare(r: TensorSource, t: TensorSource, rule: Rule = MODEL, generated = false): Promise<OutputResult> {
  return compareTensors(r, t, rule, { generated, targetDType: null })
}

function metric(result: OutputResult, name: string): number | null | undefined {
  return result.metrics.find((m) => m.name === name)?.value
}

/** Deterministic numbers in −1 … 1. */
function noise(count: number, seed = 1): Float64Array {
  let state = seed
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 31 - 1) * 0.999
  })
}

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
      reason: 'no place is finite on both sides',
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

describe('float tolerance', () => {
  test('rounding noise passes', async () => {
    const values = noise(5000)
    const noisy = values.map((value, i) => value * (1 + (i % 3) * 1e-6) + (i % 5) * 1e-7)
    expect((await compare(tensor('float32', values), tensor('float32', noisy))).verdict).toBe('pass')
  })

  test('−0 is 0', async () => {
    const result = await compare(tensor('float32', [0, 1]), tensor('float32', [-0, 1]), EXACT)
    expect(result.verdict).toBe('pass')
    expect(metric(result, 'max_ulp')).toBe(0)
  })

  test.each([
    ['a tensor near zero that is 1 % off', [1e-6, 2e-6, -3e-6], [1.01e-6, 2.02e-6, -3.03e-6]],
    ['a tensor of 1e-30 that is 1 % off', [1e-30, 2e-30], [1.01e-30, 2.02e-30]],
    ['a scalar near zero that is 1 % off', [1e-6], [1.01e-6]],
    ['a zero scalar that became 1e-3', [0], [1e-3]],
    ['an all-zero tensor with one 1e-3', [0, 0, 0], [0, 1e-3, 0]],
    ['a target of zeros', [1, 2, 3], [0, 0, 0]],
    ['a flipped sign of the smallest element', [100, 0.5], [100, -0.5]],
  ])('%s fails', async (_what, reference, target) => {
    const result = await compare(tensor('float32', reference), tensor('float32', target))
    expect(result).toMatchObject({ verdict: 'fail', flags: ['over-tolerance'] })
  })

  test.each([
    ['a zero scalar that became 1e-12', [0], [1e-12]],
    ['an all-zero tensor that became 1e-12', [0, 0], [1e-12, 0]],
    ['a scalar within rtol', [5], [5.001]],
    ['a small element beside a large one', [1000, 1e-6], [1000, 2e-6]],
  ])('%s passes', async (_what, reference, target) => {
    expect((await compare(tensor('float32', reference), tensor('float32', target))).verdict).toBe('pass')
  })

  test('one element of a big tensor that is wrong fails although relL2 does not see it', async () => {
    const values = noise(300_000)
    const broken = values.slice()
    broken[200_001] = broken[200_001]! + 0.002
    const result = await compare(tensor('float32', values), tensor('float32', broken))
    expect(result.verdict).toBe('fail')
    expect(result.mismatches).toEqual({ count: 1, of: 300_000, allowed: 0 })
    expect(metric(result, 'rel_l2')).toBeLessThan(1e-4)
    expect(result.worst[0]?.index).toEqual([200_001])
  })

  test('a small error everywhere fails by relL2 although no element is over its limit', async () => {
    const values = noise(5000)
    const shifted = values.map((value) => value * 1.0005)
    const result = await compare(tensor('float32', values), tensor('float32', shifted))
    expect(result.mismatches?.count).toBe(0)
    expect(result.reason).toBe('relL2 5e-4 is over 1e-4')
  })

  test('the smallest tolerance that is reported does pass', async () => {
    const [r, t] = [tensor('float32', [1, -2, 4]), tensor('float32', [1.01, -2, 4.02])]
    const result = await compare(r, t)
    expect(result.wouldPass).toBe('scale 4e-3 with rtol 1e-3, relL2 4.9e-3')
    const base = toleranceFor('float32', 'model')
    const passes = { kind: 'float', tolerance: { ...base, scale: 4e-3, relL2: 4.9e-3 }, source: 'given' } as const
    expect((await compare(r, t, passes)).verdict).toBe('pass')
    const tighter = { ...passes, tolerance: { ...passes.tolerance, scale: 3.9e-3 } }
    expect((await compare(r, t, tighter)).verdict).toBe('fail')
  })

  test('the rule is told with its limits and its source', async () => {
    const result = await compare(tensor('float32', [1, 2]), tensor('float32', [1, 2]))
    expect(result.rule).toBe('float32 whole model (table): |t−r| ≤ 1e-3·|r| + 1e-4·max|r|, relL2 ≤ 1e-4')
    const single = await compare(tensor('float32', [1]), tensor('float32', [1]))
    expect(single.rule).toBe('float32 whole model (table): |t−r| ≤ 1e-3·|r| + 1e-9')
  })

  test('an allowed fraction is allowed, and not more', async () => {
    const tolerance = overrideTolerance(toleranceFor('float32', 'model'), { atol: 0.1, allowedMismatch: 0.25 })
    const rule: Rule = { kind: 'float', tolerance, source: 'given' }
    const reference = tensor('float32', [1, 2, 3, 4])
    expect(await compare(reference, tensor('float32', [9, 2, 3, 4]), rule)).toMatchObject({
      verdict: 'pass',
      mismatches: { count: 1, of: 4, allowed: 1 },
    })
    expect((await compare(reference, tensor('float32', [9, 9, 3, 4]), rule)).verdict).toBe('fail')
  })

  test('limits of zero mean equality, in float16 too', async () => {
    const tolerance = overrideTolerance(toleranceFor('float16', 'model'), { atol: 0, rtol: 0 })
    const rule: Rule = { kind: 'float', tolerance, source: 'given' }
    expect((await compare(tensor('float16', [1, 2]), tensor('float16', [1 + 2 ** -10, 2]), rule)).verdict).toBe('fail')
  })

  test('float64 numbers near the end of their range are judged, not overflowed', async () => {
    const rule = tableRule('float64', 'model')
    const [big, same] = [tensor('float64', [1e308, -1e308]), tensor('float64', [1e308, -1e308])]
    expect((await compare(big, same, rule)).verdict).toBe('pass')
    expect((await compare(big, tensor('float64', [1e308, 1e308]), rule)).verdict).toBe('fail')
    const tiny = tensor('float64', [1e-308, 2e-308])
    expect((await compare(tiny, tensor('float64', [1.01e-308, 2.02e-308]), rule)).verdict).toBe('fail')
    const vast: Rule = {
      kind: 'float',
      tolerance: { ...toleranceFor('float64', 'model'), rtol: 0.99, scale: 0.99 },
      source: '',
    }
    expect((await compare(big, tensor('float64', [-1e308, -1e308]), vast)).verdict).toBe('fail')
  })

  test('a float64 that was computed in float32 fails', async () => {
    const values = noise(1000)
    const rule = tableRule('float64', 'model')
    expect((await compare(tensor('float64', values), tensor('float64', values.map(Math.fround)), rule)).verdict).toBe(
      'fail',
    )
  })

  test('complex numbers are judged by both parts', async () => {
    const reference = tensor('complex64', [1, 1e-9, 2, 3], [2])
    expect((await compare(reference, tensor('complex64', [1, -1e-9, 2, 3], [2]))).verdict).toBe('pass')
    const wrong = await compare(reference, tensor('complex64', [1, 1e-9, 2, 3.1], [2]))
    expect(wrong).toMatchObject({ verdict: 'fail', worst: [{ index: [1], reference: '2+3i', target: '2+3.1i' }] })
  })
})

describe('small floats', () => {
  test.each([
    ['float16', 2 ** -10],
    ['bfloat16', 2 ** -7],
    ['float8e4m3fn', 2 ** -3],
    ['float8e5m2', 2 ** -2],
  ] as const)('%s: one step off passes the tightest limits, a few steps fail', async (dtype, step) => {
    const rule = tableRule('float32', 'layer')
    const values = Array.from({ length: 64 }, (_, i) => 1 + (i % 2) * step)
    const moved = (at: number, steps: number) =>
      tensor(
        dtype,
        values.map((v, i) => (i === at ? 1 + steps * step : v)),
      )
    expect((await compare(tensor(dtype, values), moved(0, 1), rule)).verdict).toBe('pass')
    expect((await compare(tensor(dtype, values), moved(0, 2), rule)).verdict).toBe('fail')
  })

  test('one step everywhere is more than rounding', async () => {
    const values = Array.from({ length: 64 }, (_, i) => 1 + i / 64)
    const moved = values.map((value) => value + 2 ** -7)
    const rule = tableRule('float32', 'layer')
    expect((await compare(tensor('bfloat16', values), tensor('bfloat16', moved), rule)).verdict).toBe('fail')
  })

  test('subnormal float16 numbers may be a step apart', async () => {
    const step = 2 ** -24
    const rule = tableRule('float32', 'model')
    const result = await compare(
      tensor('float16', [step * 3, step, 0, 0]),
      tensor('float16', [step * 3, step, 0, step]),
      rule,
    )
    expect(result.verdict).toBe('pass')
  })
})

describe('integers, booleans and strings', () => {
  test('an int64 beyond 2^53 that is off by one fails, with exact texts', async () => {
    const result = await compare(integers([9007199254740993n, 5n]), integers([9007199254740992n, 5n]), EXACT)
    expect(result.verdict).toBe('fail')
    expect(result.worst).toEqual([
      { tensor: 'y', index: [0], reference: '9007199254740993', target: '9007199254740992', error: 1, allowed: 0 },
    ])
    const unsigned = await compare(integers([2n ** 64n - 1n], 'uint64'), integers([2n ** 64n - 2n], 'uint64'), EXACT)
    expect(unsigned.verdict).toBe('fail')
  })

  test('integers are exact even under a float rule', async () => {
    const result = await compare(tensor('int32', [1000000, 2]), tensor('int32', [1000001, 2]))
    expect(result).toMatchObject({ verdict: 'fail', rule: 'integers: exactly equal', flags: [] })
  })

  test('a uint8 off by one passes as quantised and fails exactly', async () => {
    const values = Array.from({ length: 200 }, (_, i) => i)
    const moved = values.map((value, i) => (i === 7 ? value + 1 : value))
    expect((await compare(tensor('uint8', values), tensor('uint8', moved), QUANTISED)).verdict).toBe('pass')
    expect((await compare(tensor('uint8', values), tensor('uint8', moved), EXACT)).verdict).toBe('fail')
  })

  test('quantised values two steps off, or off in too many places, fail', async () => {
    const values = Array.from({ length: 200 }, (_, i) => i)
    const two = values.map((value, i) => (i === 7 ? value + 2 : value))
    const many = values.map((value, i) => (i < 3 ? value + 1 : value))
    const far = await compare(tensor('uint8', values), tensor('uint8', two), QUANTISED)
    expect(far).toMatchObject({ verdict: 'fail', reason: '1 of 200 values are more than 1 off' })
    const often = await compare(tensor('uint8', values), tensor('uint8', many), QUANTISED)
    expect(often).toMatchObject({ verdict: 'fail', reason: '3 of 200 values differ, 2 may' })
    expect(often.wouldPass).toBe('1 steps off in 1.5 % of the values')
  })

  test('a step of a quantised 8-bit float is an ulp', async () => {
    const values = Array.from({ length: 200 }, () => 256)
    const moved = (to: number) =>
      tensor(
        'float8e4m3fn',
        values.map((v, i) => (i === 3 ? to : v)),
      )
    expect((await compare(tensor('float8e4m3fn', values), moved(288), QUANTISED)).verdict).toBe('pass')
    expect((await compare(tensor('float8e4m3fn', values), moved(320), QUANTISED)).verdict).toBe('fail')
  })

  test('the last of an odd number of 4-bit elements is compared, the unused bits are not', async () => {
    const rule = EXACT
    const source = (bytes: number[]) => memorySource('y', { dtype: 'uint4', shape: [3], bytes: Uint8Array.from(bytes) })
    expect((await compare(source([0x21, 0x03]), source([0x21, 0xf3]), rule)).verdict).toBe('pass')
    const result = await compare(source([0x21, 0x03]), source([0x21, 0x04]), rule)
    expect(result).toMatchObject({ verdict: 'fail', worst: [{ index: [2], reference: '3', target: '4' }] })
  })

  test('booleans are exact', async () => {
    expect((await compare(tensor('bool', [1, 0]), tensor('bool', [1, 1]))).verdict).toBe('fail')
    expect((await compare(tensor('bool', [1, 0]), tensor('bool', [1, 0]))).verdict).toBe('pass')
  })

  test('strings are exact, whatever the chunks', async () => {
    const source = (strings: string[], chunkBytes?: number) =>
      memorySource('y', { dtype: 'string', shape: [strings.length], bytes: encodeStrings(strings) }, chunkBytes)
    expect((await compare(source(['a', 'ü', '']), source(['a', 'ü', ''], 3))).verdict).toBe('pass')
    const result = await compare(source(['a', 'ü', '']), source(['a', 'u', ''], 1))
    expect(result).toMatchObject({ verdict: 'fail', worst: [{ index: [1], reference: '"ü"', target: '"u"' }] })
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
    expect(await verdict('int32', [5, 5])).toBe('pass')
    expect(await verdict('float32', [...new Array(70_000).fill(1), 2])).toBe('pass')
  })
})
