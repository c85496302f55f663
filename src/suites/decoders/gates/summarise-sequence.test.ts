import { describe, expect, test } from 'vitest'
import { keptCount } from './compare-tokens.ts'
import { measureSequence } from './summarise-sequence.ts'
import { keptPair } from './testing/kept-steps.ts'

const sequenceOf = (reference: readonly (readonly number[])[], target = reference, eos: readonly number[] = []) =>
  measureSequence({ prompt: 'p', ...keptPair(reference, target, 2), eos })

const one = [3, 2, 1]
const two = [1, 3, 2]
const end = [0, 1, 5]

describe('what is kept', () => {
  test.each([
    [[5, 6, 7], [], 3],
    [[5, 6, 7], [9], 3],
    [[5, 6, 7, 6], [6], 1],
    [[5, 6, 7], [7, 6], 1],
    [[5, 6, 7], [5], 0],
    [[null, 6], [6], 1],
  ])('of tokens %j with the ends %j: %i', (tokens, eos, kept) => {
    expect(
      keptCount(
        tokens.map((token) => ({ token })),
        eos,
      ),
    ).toBe(kept)
  })

  test('the end and all that follows is in no metric', () => {
    const { tokens, summary } = sequenceOf([one, two, end, one], [one, two, end, two], [2])
    expect(tokens).toHaveLength(2)
    expect(summary).toMatchObject({ kept: 2, missing: 0, error: 0, flips: 0, divergence: null })
  })

  test('nothing kept is no error of 0', () => {
    const { summary } = sequenceOf([end], [end], [2])
    expect(summary).toMatchObject({ kept: 0, error: null, noise: null })
  })
})

describe('choices', () => {
  test('a target that goes on where the reference ends diverges there', () => {
    const { tokens, summary } = sequenceOf([one, two, end], [one, two, one], [2])
    expect(tokens).toHaveLength(2)
    expect(summary.divergence).toMatchObject({ step: 2, reference: 2, target: 0, isNearTie: false })
    expect(summary.flips).toBe(1)
    expect(summary.worst!.step).toBe(2)
  })

  test('a near tie is one by the noise of other steps', () => {
    const tie = [2.01, 2, 0]
    const others = Array.from({ length: 4 }, () => one)
    const noisy = others.map(() => [3.01, 1.99, 1])
    const flipped = sequenceOf([...others, tie], [...noisy, [1.99, 2.02, 0]])
    expect(flipped.summary.divergence).toMatchObject({ step: 4, isNearTie: true })
    const sure = sequenceOf([...others, [2.5, 2, 0]], [...noisy, [1.99, 2.02, 0]])
    expect(sure.summary.divergence).toMatchObject({ step: 4, isNearTie: false })
  })

  test('the noise of a baseline goes before its own', () => {
    const pair = { prompt: 'p', ...keptPair([[2.01, 2, 0]], [[1.9, 2, 0]], 2), eos: [] }
    expect(measureSequence(pair, 0.001).summary.divergence!.isNearTie).toBe(false)
    expect(measureSequence(pair, 0.1).summary.divergence!.isNearTie).toBe(true)
  })
})

describe('what is not right', () => {
  test('a NaN is in no average and no choice', () => {
    const { summary } = sequenceOf([one, two, one], [one, [1, Number.NaN, 2], one])
    expect(summary.nonFinite).toEqual({ reference: 0, target: 1, first: 1 })
    expect(summary.error).toBeNaN()
    expect(summary.metrics.ce.mean).toBeNaN()
    expect(summary.metrics.ce.max).toBeNaN()
    expect(summary.divergence).toMatchObject({ step: 1, flip: null, isNearTie: false })
  })

  test('a target that stops early is missing tokens, and is not equal', () => {
    const { tokens, summary } = sequenceOf([one, two, one], [one])
    expect(tokens).toHaveLength(1)
    expect(summary).toMatchObject({ kept: 3, missing: 2 })
  })

  test('a planted fault in one token is where the worst is', () => {
    const { summary } = sequenceOf([one, one, one], [one, [3, 2, 9], one])
    expect(summary.worst).toMatchObject({ step: 1, rank: 2, overlap: 1 })
    expect(summary.worst!.targetTail).toBeGreaterThan(0.99)
    expect(summary).toMatchObject({ wrecked: 1, flips: 1 })
    expect(summary.widestFlip).toMatchObject({ step: 1, isBeyond: true, referenceGap: 1 })
  })
})

test('the error grows as the noise of the logits does', () => {
  const noisy = (size: number) =>
    sequenceOf(
      [one, two],
      [
        [3, 2 + size, 1],
        [1, 3, 2 - size],
      ],
    ).summary.error!
  expect(noisy(0.02) / noisy(0.01)).toBeCloseTo(2, 1)
})

test('other tokens of the reference are another continuation', () => {
  const fingerprint = (steps: readonly (readonly number[])[]) => sequenceOf(steps).summary.continuation
  expect(fingerprint([one, two])).toBe(fingerprint([one, two]))
  expect(fingerprint([one, two])).not.toBe(fingerprint([two, one]))
})
