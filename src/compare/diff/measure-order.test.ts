import { expect, test } from 'vitest'
import { elementCount } from '../../domain/tensor.ts'
import { measureOrder } from './measure-order.ts'
import { memoryOrders, misreadOrders, sourcePlace } from './memory-orders.ts'
import { normal, tensor, withPair } from './testing/tensors.ts'

const SHAPES = [
  [5, 7],
  [300, 401],
  [3, 70_001],
  [2, 1, 5, 7],
  [3, 4, 5, 6],
  [2, 3, 40, 300],
  [2, 2, 70_000],
]

test.each(SHAPES)(
  'every order of a tensor of shape %j is recognised, and a single wrong element seen',
  async (...shape) => {
    const count = elementCount(shape)
    const reference = normal(count)
    for (const order of [...memoryOrders(shape), ...misreadOrders(shape)]) {
      const target = Array.from({ length: count }, (_, place) => reference[sourcePlace(order, place)]!)
      const sources = [tensor(shape, reference), tensor(shape, target)] as const
      expect(await withPair(...sources, (pair) => measureOrder(pair, order))).toMatchObject({ dd: 0, finite: count })
      const wrong = tensor(shape, target.with(count - 2, 100))
      expect((await withPair(sources[0], wrong, (pair) => measureOrder(pair, order))).dd).toBeGreaterThan(5000)
    }
  },
)

test('axes of one index change nothing, more than four long ones are too many', () => {
  expect(memoryOrders([1, 5, 1])).toEqual([])
  expect(memoryOrders([2, 2, 2, 2, 2])).toEqual([])
  expect(memoryOrders([1, 2, 3, 4])).toHaveLength(5)
})
