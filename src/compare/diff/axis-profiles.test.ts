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
