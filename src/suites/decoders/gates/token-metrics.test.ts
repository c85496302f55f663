import { describe, expect, test } from 'vitest'
import { keptPair, keptStep } from './testing/kept-steps.ts'
import { tokenMetrics } from './token-metrics.ts'

function metricsOf(reference: readonly number[], target: readonly number[], topK: number) {
  const pair = keptPair([reference], [target], topK)
  return tokenMetrics(pair.reference[0]!, pair.target[0]!)
}

const softmax = (logits: readonly number[]) => {
  const powers = logits.map(Math.exp)
  const total = powers.reduce((a, b) => a + b, 0)
  return powers.map((power) => power / total)
}

describe('with the mass of all other tokens', () => {
  const reference = [2, 1, 0, -1, -1.5]
  const target = [1.8, 1.3, -0.2, -0.5, -1.5]

  test('klTail, moved and both tails are those of the definition', () => {
    const [p, q] = [softmax(reference), softmax(target)]
    const buckets = (of: readonly number[]) => [of[0]!, of[1]!, of[2]! + of[3]! + of[4]!]
    const kl = buckets(q).reduce((sum, mass, i) => sum + mass * Math.log(mass / buckets(p)[i]!), 0)
    const moved = buckets(q).reduce((sum, mass, i) => sum + Math.abs(mass - buckets(p)[i]!) / 2, 0)
    const found = metricsOf(reference, target, 2)
    expect(found.klTail).toBeCloseTo(kl, 7)
    expect(found.moved).toBeCloseTo(moved, 7)
    expect(found.referenceTail).toBeCloseTo(buckets(p)[2]!, 7)
    expect(found.targetTail).toBeCloseTo(buckets(q)[2]!, 7)
    expect(found.logError).toBeCloseTo(Math.max(...[0, 1].map((i) => Math.abs(Math.log(p[i]! / q[i]!)))), 7)
  })

  test('equal sides give exactly nothing, a shift of all logits next to nothing', () => {
    expect(metricsOf(reference, reference, 2)).toMatchObject({ kl: 0, klTail: 0, moved: 0, logError: 0, overlap: 2 })
    const shifted = reference.map((logit) => logit + 8)
    expect(metricsOf(reference, shifted, 2).klTail).toBeLessThan(1e-15)
  })

  test('a tiny error keeps its digits', () => {
    const small = [2, 1 + 2 ** -20, 0]
    const [p, q] = [softmax([2, 1, 0]), softmax(small)]
    const expected = (p[1]! * (1 - p[1]!) * 2 ** -40) / 2
    expect(metricsOf([2, 1, 0], small, 3).klTail / expected).toBeCloseTo(1, 5)
    expect(Math.abs(q[1]! - p[1]!)).toBeGreaterThan(0)
  })

  test('all of the vocabulary among the largest leaves nothing outside', () => {
    const found = metricsOf([1, 0], [0.5, 0], 20)
    expect(found.klTail).toBeCloseTo(found.kl, 10)
    expect(found.referenceTail).toBeLessThan(1e-11)
  })

  test('logits a thousand apart overflow nothing', () => {
    const found = metricsOf([1000, 0, -1000], [-1000, 0, 1000], 3)
    expect(found.klTail).toBeGreaterThan(100)
    expect(Number.isFinite(found.klTail)).toBe(true)
  })
})

describe('choices', () => {
  test('a flip has the gap of both sides', () => {
    const found = metricsOf([3, 2.5, 0], [2, 2.75, 0], 2)
    expect(found).toMatchObject({ agrees: false, rank: 2, overlap: 2 })
    expect(found.flip).toEqual({ referenceGap: 0.5, isBeyond: false, targetGap: 0.75 })
  })

  test('beyond what was kept, a gap is a least one and there is no rank', () => {
    const found = metricsOf([3, 2, 1, 0], [0, 1, 5, 4], 2)
    expect(found).toMatchObject({ rank: null, overlap: 0 })
    expect(found.flip).toEqual({ referenceGap: 1, isBeyond: true, targetGap: 5 })
  })

  test('among equals the lowest id is chosen, so ties do not flip', () => {
    expect(metricsOf([1, 1, 1], [1, 1, 1], 2)).toMatchObject({ agrees: true, rank: 1, flip: null })
  })
})

describe('what is not finite', () => {
  const { NaN: nan, POSITIVE_INFINITY: infinite, NEGATIVE_INFINITY: masked } = Number
  test.each([
    ['NaN in the target', [3, 2, 1], [3, nan, 1], 'target'],
    ['infinity in the target', [3, 2, 1], [3, infinite, 1], 'target'],
    ['NaN beyond what is compared', [3, 2, 1], [3, 2, nan], 'target'],
    ['a token that only the target masks', [3, 2, 1], [3, 2, masked], 'target'],
    ['as many masked, but others', [3, 2, masked], [3, masked, 2], 'target'],
    ['nothing but NaN', [3, 2, 1], [nan, nan, nan], 'target'],
    ['NaN in the reference', [3, nan, 1], [3, 2, 1], 'reference'],
    ['NaN in both', [3, nan, 1], [3, nan, 1], 'reference'],
    ['everything masked by the reference', [masked, masked], [masked, masked], 'reference'],
  ] as const)('%s', (_name, reference, target, side) => {
    const found = metricsOf(reference, target, 2)
    expect(found.nonFinite).toBe(side)
    for (const key of ['ce', 'kl', 'klTail', 'probMean', 'probStd', 'diffMean', 'moved', 'logError'] as const)
      expect(found[key], key).toBeNaN()
    expect(found.agrees).toBe(false)
  })

  test('tokens that both mask change nothing', () => {
    const plain = metricsOf([3, 2, 1], [3, 2.5, 1], 3)
    expect(metricsOf([3, 2, 1, masked], [3, 2.5, 1, masked], 4)).toMatchObject({ ...plain, overlap: 4 })
  })
})

test('logits for other ids than the reference has are a mistake of the caller', () => {
  const reference = keptStep([3, 2, 1], 2)
  expect(() => tokenMetrics(reference, keptStep([3, 2, 1], 2))).toThrow(/no logits for 2 ids/)
  expect(() => tokenMetrics(reference, { ...reference, at: Float32Array.of(1) })).toThrow(/1 logits for 2 ids/)
  expect(() => tokenMetrics(keptStep([3, 2], 0), { ...reference, at: new Float32Array(0) })).toThrow(/for 0 ids/)
})
