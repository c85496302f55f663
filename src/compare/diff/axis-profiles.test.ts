import { expect, test } from 'vitest'
import { AxisProfiles } from './axis-profiles.ts'

test('numbers are added up by index of every axis, however they come in pieces', () => {
  const numbers = Float64Array.from({ length: 24 }, (_, i) => i)
  const profiles = new AxisProfiles([2, 1, 3, 4])
  for (const [from, to] of [
    [0, 5],
    [5, 6],
    [6, 19],
    [19, 24],
  ] as const)
    profiles.add(from, numbers.subarray(from, to))
  const sums = profiles.list().map((profile) => [profile.axis, ...profile.sums])
  expect(sums).toEqual([
    [0, 66, 210],
    [2, 60, 92, 124],
    [3, 60, 66, 72, 78],
  ])
})

test('indices of an axis of millions share bins, wherever the pieces end', () => {
  const size = 2 ** 21 + 5
  const profiles = new AxisProfiles([size])
  const ones = new Float64Array(size).fill(1)
  for (const [from, to] of [
    [0, 2 ** 20 + 1],
    [2 ** 20 + 1, 2 ** 20 + 2],
    [2 ** 20 + 2, size],
  ] as const)
    profiles.add(from, ones.subarray(from, to))
  const [{ binSize, sums }] = profiles.list() as [ReturnType<AxisProfiles['list']>[0]]
  expect([binSize, sums.length, sums[0], sums[2 ** 18], sums.at(-1)]).toEqual([4, 524_290, 4, 4, 1])
  expect(sums.reduce((a, b) => a + b)).toBe(size)
})
