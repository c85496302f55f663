import { expect, test } from 'vitest'
import { chunksOf } from './activations.ts'

test.each<[readonly number[], number[][]]>([
  [[], []],
  [[1, 2, 3], [[1, 2, 3]]],
  [
    [4, 4, 4],
    [[4, 4], [4]],
  ],
  [
    [9, 1, 20, 1],
    [[9, 1], [20], [1]],
  ],
  [[0, 10, 0], [[0, 10, 0]]],
])('%j in chunks of 10', (sizes, chunks) => {
  expect(chunksOf(sizes, (size) => size, 10)).toEqual(chunks)
})
