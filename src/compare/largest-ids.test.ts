import { expect, test } from 'vitest'
import { largestIds } from './largest-ids.ts'
import { randomFrom } from './testing/random.ts'

const SPECIALS = [Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -0]

/** By the definition. */
function sortedIds(row: Float32Array, count: number): number[] {
  const ids = Array.from(row, (_, id) => id).filter((id) => !Number.isNaN(row[id]))
  const isLarger = (a: number, b: number) => Number(row[b]! > row[a]!) - Number(row[a]! > row[b]!)
  return ids.sort((a, b) => isLarger(a, b) || a - b).slice(0, count)
}

test.each([0, 1, 2, 20, 5000])('the %d largest of drawn rows, with equals, NaN and infinities among them', (count) => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomFrom(seed)
    const kinds = [3, 50, 1e6][seed % 3]!
    const row = new Float32Array(Math.floor(random() * 2000)).map(() =>
      random() < 0.02 ? SPECIALS[Math.floor(random() * SPECIALS.length)]! : Math.floor(random() * kinds),
    )
    expect(largestIds(row, count), `seed ${seed}`).toEqual(sortedIds(row, count))
  }
})

test('a row of nothing but masked tokens has its first ones', () => {
  expect(largestIds(new Float32Array(300).fill(Number.NEGATIVE_INFINITY), 3)).toEqual([0, 1, 2])
})
