import { expect, test } from 'vitest'
import { PythonRandom } from './python-random.ts'

const tenNumbers = Array.from({ length: 10 }, (_, i) => i)

test.each([
  [0, [7, 8, 1, 5, 3, 4, 2, 0, 9, 6]],
  [1, [6, 8, 9, 7, 5, 3, 0, 4, 1, 2]],
  [2, [5, 9, 3, 4, 6, 7, 2, 8, 1, 0]],
  [42, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]],
  [-42, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]],
  [2 ** 32, [8, 9, 3, 2, 4, 7, 0, 6, 5, 1]],
  [2 ** 53 - 1, [4, 2, 7, 0, 5, 9, 6, 3, 8, 1]],
])('seed %d shuffles 0 to 9 as Python does', (seed, order) => {
  expect(new PythonRandom(seed).shuffled(tenNumbers)).toEqual(order)
})

test('a long list stays in step with Python over many draws', () => {
  const order = new PythonRandom(7).shuffled(Array.from({ length: 5000 }, (_, i) => i))
  expect(order.slice(0, 6)).toEqual([2890, 4834, 1882, 4052, 303, 2059])
  expect(order.slice(-3)).toEqual([3234, 1235, 2652])
})

test('an empty list and a list of one come back as they are', () => {
  expect(new PythonRandom(0).shuffled([])).toEqual([])
  expect(new PythonRandom(0).shuffled(['a'])).toEqual(['a'])
})

test('the list that was given keeps its order', () => {
  const given = [1, 2, 3]
  new PythonRandom(0).shuffled(given)
  expect(given).toEqual([1, 2, 3])
})

test('a seed that is no whole number is refused', () => {
  expect(() => new PythonRandom(0.5)).toThrow('a seed of 0.5, expected a whole number')
})
