import { expect, test } from 'vitest'
import { padLeft } from './pad.ts'

const padded = padLeft(
  [
    [7, 8],
    [4, 5, 6],
  ],
  4,
)

test('prompts are padded on the left with id 0, and positions count the prompt alone', () => {
  expect(padded.ids).toEqual([
    [0, 0, 7, 8],
    [0, 4, 5, 6],
  ])
  expect(padded.positions).toEqual([
    [0, 0, 0, 1],
    [0, 0, 1, 2],
  ])
  expect(padded.mask).toEqual([
    [0, 0, 1, 1],
    [0, 1, 1, 1],
  ])
})

test('the mask says what may be attended to: earlier tokens of the same kind', () => {
  const mask = padded.mask[0]!
  const allowed = mask.map((row, i) => mask.map((column, j) => Number(j <= i && row === column)))
  expect(allowed).toEqual([
    [1, 0, 0, 0],
    [1, 1, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 1, 1],
  ])
})

test('a prompt that is longer than the length sets the length', () => {
  expect(padLeft([[1, 2, 3], [4]], 2).ids).toEqual([
    [1, 2, 3],
    [0, 0, 4],
  ])
})

test('a prompt that holds the padding id itself is no padding', () => {
  expect(padLeft([[0, 0, 5]], 4)).toEqual({ ids: [[0, 0, 0, 5]], mask: [[0, 1, 1, 1]], positions: [[0, 0, 1, 2]] })
})

test('no prompts are no rows', () => {
  expect(padLeft([], 4)).toEqual({ ids: [], mask: [], positions: [] })
})
