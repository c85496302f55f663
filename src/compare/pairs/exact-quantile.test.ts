import { expect, test } from 'vitest'
import { integers, noise, tensor } from '../testing/tensors.ts'
import { exactQuantile } from './exact-quantile.ts'

function slow(r: Float64Array, t: Float64Array, q: number, isRelative: boolean): number {
  const errors = r.map((value, i) => Math.abs(t[i]! - value) / (isRelative ? Math.abs(value) : 1))
  const finite = errors.filter(
    (error, i) => Number.isFinite(r[i]!) && Number.isFinite(t[i]!) && !(isRelative && r[i] === 0) && error >= 0,
  )
  return finite.sort()[Math.max(1, Math.ceil(q * finite.length)) - 1]!
}

test('exact quantiles are those of sorting, to the last bit', async () => {
  const r = noise(200_000).map((value, i) => (i % 50 === 0 ? 0 : i % 777 === 0 ? Number.NaN : value))
  const t = r.map((value, i) => value + noise(1, i)[0]! ** 5 * 1e-3)
  const [reference, target] = [tensor('float64', r), tensor('float64', t)]
  for (const q of [0, 0.01, 0.5, 0.99, 1]) {
    expect(await exactQuantile(reference, target, 'absolute', q)).toBe(slow(r, t, q, false))
    expect(await exactQuantile(reference, target, 'relative', q)).toBe(slow(r, t, q, true))
  }
})

test('more equal errors than are sorted at once, and none at all', async () => {
  const zeros = new Float64Array(1_200_000)
  const ones = zeros.map((_, i) => (i === 7 ? 3 : 1))
  expect(await exactQuantile(tensor('uint8', zeros), tensor('uint8', ones), 'absolute', 0.5)).toBe(1)
  expect(await exactQuantile(tensor('uint8', zeros), tensor('uint8', ones), 'absolute', 1)).toBe(3)
  expect(await exactQuantile(tensor('uint8', zeros), tensor('uint8', ones), 'relative', 0.5)).toBeNull()
})

test('64-bit integers that differ beyond 2^53', async () => {
  expect(await exactQuantile(integers([2n ** 60n + 1n]), integers([2n ** 60n]), 'absolute', 0.5)).toBe(1)
})
