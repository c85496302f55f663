import { expect, test } from 'vitest'
import { findRealElements } from './real-positions.ts'

const MASK = [
  [0, 1, 1],
  [1, 1, 1],
]

test('tokens of a batch, whatever lies behind them', () => {
  expect(findRealElements([2, 3, 4], MASK)).toEqual([
    { start: 4, end: 12 },
    { start: 12, end: 24 },
  ])
  expect(findRealElements([2, 3], MASK)).toEqual([
    { start: 1, end: 3 },
    { start: 3, end: 6 },
  ])
})

test('tokens of every head', () => {
  expect(findRealElements([2, 2, 3, 5], MASK)).toEqual([
    { start: 5, end: 15 },
    { start: 20, end: 30 },
    { start: 30, end: 45 },
    { start: 45, end: 60 },
  ])
})

test('padding on the right and in the middle', () => {
  expect(findRealElements([1, 5], [[1, 0, 1, 1, 0]])).toEqual([
    { start: 0, end: 1 },
    { start: 2, end: 4 },
  ])
})

test.each([
  ['another batch', [3, 3, 4]],
  ['another length', [2, 4, 4]],
  ['a sequence elsewhere', [2, 4, 3]],
  ['a vector', [3]],
  ['a number', []],
])('%s has no padding', (_, shape) => {
  expect(findRealElements(shape, MASK)).toBeNull()
})

test('a mask of ones leaves nothing out, and so does none', () => {
  expect(findRealElements([1, 2, 4], [[1, 1]])).toBeNull()
  expect(findRealElements([1, 2, 4], null)).toBeNull()
})

test('a sequence of padding alone has no elements', () => {
  expect(findRealElements([1, 2], [[0, 0]])).toEqual([])
})
