import { describe, expect, test } from 'vitest'
import type { Rule } from '../contract.ts'
import { compare, EXACT, metric, noise, tensor } from '../testing/tensors.ts'
import { overrideTolerance, tableRule, toleranceFor } from './tolerances.ts'

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
    ['a scalar that is 0.05 % off', [5], [5.0025]],
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
    ['a scalar within the limit of relL2', [5], [5.0004]],
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

  test('the floor of single elements does not hide one wrong element of a tiny tensor', async () => {
    const values = noise(300_000).map((value) => value * 1e-12)
    const broken = values.slice()
    broken[7] = broken[7]! + 2e-15
    const result = await compare(tensor('float32', values), tensor('float32', broken))
    expect(result).toMatchObject({ verdict: 'fail', mismatches: { count: 1 } })
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

  test('a single element is told with the rtol that its rule used', async () => {
    const [r, t] = [tensor('float32', [1]), tensor('float32', [1.01])]
    const { rule, wouldPass } = await compare(r, t)
    expect(rule).toContain('|t−r| ≤ 1e-4·|r|')
    expect(wouldPass).toBe('atol 9.9e-3 with rtol 1e-4')
    const passes = {
      kind: 'float',
      tolerance: overrideTolerance(toleranceFor('float32', 'model'), { atol: 9.9e-3, rtol: 1e-4 }),
      source: 'given',
    } as const
    expect((await compare(r, t, passes)).verdict).toBe('pass')
  })

  test('the rule is told with its limits and its source', async () => {
    const result = await compare(tensor('float32', [1, 2]), tensor('float32', [1, 2]))
    expect(result.rule).toBe('float32 whole model (table): |t−r| ≤ 1e-3·|r| + 1e-4·max|r|, relL2 ≤ 1e-4')
    const single = await compare(tensor('float32', [1]), tensor('float32', [1]))
    expect(single.rule).toBe('float32 whole model (table): |t−r| ≤ 1e-4·|r| + 1e-9')
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
    const overflowing = { ...toleranceFor('float64', 'model'), rtol: 0.99, scale: 0.99, relL2: null }
    const vast: Rule = { kind: 'float', tolerance: overflowing, source: 'given' }
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

describe('a function that is computed around 1', () => {
  const rule = tableRule('float32', 'layer', { terms: 1, aroundOne: true })
  const small = Array.from({ length: 64 }, (_, i) => 1e-5 * (1 + i / 64))
  const off = (by: number) =>
    tensor(
      'float32',
      small.map((value, i) => value + (i % 2 === 0 ? by : -by)),
    )

  test('rounds small results as it rounds large ones', async () => {
    const result = await compare(tensor('float32', small), off(2.4e-7), rule)
    expect([result.verdict, result.rule]).toEqual([
      'pass',
      'float32 single layer, around 1 (table): |t−r| ≤ 1e-4·|r| + 1e-5·max|r| + 4.77e-7, relL2 ≤ 1e-5 beyond such roundings',
    ])
    expect((await compare(tensor('float32', small), off(2.4e-7), tableRule('float32', 'layer'))).verdict).toBe('fail')
  })

  test('but no more than that', async () => {
    expect((await compare(tensor('float32', small), off(6e-7), rule)).verdict).toBe('fail')
    const large = Array.from({ length: 64 }, (_, i) => 0.5 + i / 200)
    const moved = large.map((value) => value * (1 + 3e-5))
    const result = await compare(tensor('float32', large), tensor('float32', moved), rule)
    expect([result.verdict, result.reason]).toEqual(['fail', expect.stringContaining('relL2 3e-5 is over 1.0')])
  })
})
