import { expect, test } from 'vitest'
import { shuffledInRange } from './sample.ts'

const lengths = [3, 10, 5, 8, 20, 6, 7, 4, 9, 12]

test.each([
  [0, [8, 6, 5]],
  [1, [6, 3, 1]],
  [2, [6, 3, 5]],
])('seed %d picks the same prompts as the documented sampler', (seed, picked) => {
  expect(shuffledInRange(lengths, 5, 10, seed).slice(0, 3)).toEqual(picked)
})

test('both ends of the range belong to it', () => {
  expect(shuffledInRange([4, 5, 10, 11], 5, 10, 0).sort()).toEqual([1, 2])
})

test('equal lengths keep their order before they are shuffled', () => {
  const order = shuffledInRange([2, 1, 2, 1, 2], 1, 2, 0)
  expect(order).toEqual(shuffledInRange([1, 1, 2, 2, 2], 1, 2, 0).map((i) => [1, 3, 0, 2, 4][i]))
})

test('nothing in range is an empty list', () => {
  expect(shuffledInRange(lengths, 30, 40, 0)).toEqual([])
})
