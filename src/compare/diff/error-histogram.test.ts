import { expect, test } from 'vitest'
import { ErrorCounter, listErrors } from './error-histogram.ts'

function count(...differences: number[]) {
  const counter = new ErrorCounter(16)
  counter.add(Float64Array.from(differences))
  return listErrors([counter.counted], 0)
}

test('errors are counted by half decades, exactly at the edges', () => {
  const { zero, bins } = count(0, -0, 1, -1, 0.9999999999, 0.31, 0.3163, 3.2, 1e-3)
  expect(zero).toBe(2)
  const at = (error: number) => bins.find(({ from, to }) => from <= error && error < to)?.count
  expect([at(1), at(0.5), at(0.3), at(4), at(1e-3)]).toEqual([2, 2, 1, 1, 1])
  expect(bins[0]!.from).toBe(1e-3)
  expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(7)
})

test('errors that float32 cannot hold have a bin too', () => {
  const { bins } = count(1e-300, 4e300)
  expect([bins[0]!.from, bins[0]!.count]).toEqual([1e-300, 1])
  expect([bins.at(-1)!.from < 4e300, bins.at(-1)!.to > 4e300, bins.at(-1)!.count]).toEqual([true, true, 1])
  expect(count(5e-324).bins).toHaveLength(1)
})

test('places that are not finite are not errors of 0', () => {
  const counter = new ErrorCounter(4)
  counter.add(Float64Array.of(0, 0, 0))
  expect(listErrors([counter.counted], 2)).toEqual({ zero: 1, bins: [] })
})
