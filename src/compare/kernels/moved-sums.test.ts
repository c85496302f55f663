import { expect, test } from 'vitest'
import { middleDifference, moveSums } from './moved-sums.ts'
import { TokenSums } from './token-sums.ts'

const REFERENCE = Float32Array.of(1, 2.5, -3, 0.25, 0.75)
const TARGET = Float32Array.of(1.25, 2, -2.5, 0.5, 0.5)

/** Of all tokens but `best`. */
function sumsFrom(reference: Float32Array, best: number) {
  const sums = new TokenSums(TARGET.length)
  sums.begin({ reference, target: TARGET }, best)
  sums.add(0, TARGET.length)
  return sums.sums
}

test('sums are moved as if they had been added up so', () => {
  // With another logit of the arg-max, all x of the others are less by as much.
  const raised = REFERENCE.map((value, i) => (i === 1 ? value + 0.5 : value))
  const moved = moveSums(sumsFrom(REFERENCE, 1), 4, 0.5)
  for (const [name, value] of Object.entries(sumsFrom(raised, 1)))
    expect(moved[name as keyof typeof moved], name).toBeCloseTo(value, 14)
})

test('the middle of differences is their median, whatever one of them is', () => {
  expect(middleDifference({ reference: REFERENCE, target: TARGET })).toBe(-0.25)
  expect(middleDifference({ reference: Float32Array.of(3, 1e30, 4), target: Float32Array.of(2, 0, 3) })).toBe(1)
  expect(middleDifference({ reference: Float32Array.of(5), target: Float32Array.of(2) })).toBe(3)
})
