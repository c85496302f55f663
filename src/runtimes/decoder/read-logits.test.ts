import { describe, expect, test } from 'vitest'
import { readRow } from './read-logits.ts'

/** By the definitions, in any length. */
function plain(row: readonly number[], topK: number) {
  const numbers = row.map((logit, id) => ({ logit, id })).filter(({ logit }) => !Number.isNaN(logit))
  const sorted = numbers.sort((a, b) => (a.logit === b.logit ? a.id - b.id : b.logit > a.logit ? 1 : -1))
  const most = sorted[0]?.logit ?? Number.NaN
  const sum = row.reduce((total, logit) => total + Math.exp(logit - most), 0)
  return {
    chosen: sorted[0]?.id ?? null,
    ids: sorted.slice(0, topK).map(({ id }) => id),
    logSumExp: Number.isFinite(most) || Number.isNaN(sum) ? most + Math.log(sum) : most,
  }
}

const read = (row: Float32Array | Float64Array, topK: number) =>
  readRow(row, { keep: { topK }, eos: [] }, null, undefined)

describe.each([4, 255, 256, 300, 5000])('a row of %i logits', (size) => {
  const row = (change: (logits: number[]) => void = () => {}) => {
    const logits = Array.from({ length: size }, (_, i) => Math.fround(8 * Math.sin(i * 78.233)))
    change(logits)
    return logits
  }

  test.each<[string, number[]]>([
    ['without anything odd', row()],
    ['of equal logits', row((logits) => logits.fill(3))],
    ['with two largest', row((logits) => logits.fill(50, size - 2))],
    ['that ends with the largest', row((logits) => logits.fill(50, -1))],
    ['with infinities below', row((logits) => logits.fill(Number.NEGATIVE_INFINITY, 2, 3))],
  ])('%s is read by the definitions, in float32 and float64', (_, logits) => {
    for (const typed of [Float32Array.from(logits), Float64Array.from(logits)]) {
      const { chosen, top, logSumExp } = read(typed, 20)
      const expected = plain(logits, 20)
      expect([chosen, top!.ids]).toEqual([expected.chosen, expected.ids])
      expect(Array.from(top!.logits)).toEqual(expected.ids.map((id) => logits[id]))
      expect(logSumExp).toBeCloseTo(expected.logSumExp, 11)
    }
  })

  test('with NaN and infinities has them counted', () => {
    const logits = Float32Array.from(row())
    logits.set([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY])
    const { chosen, nonFinite, logSumExp, top } = read(logits, 2)
    expect(nonFinite).toEqual({ nan: 1, positiveInfinity: 1, negativeInfinity: 2 })
    expect([chosen, logSumExp, top!.ids[0]]).toEqual([1, Number.NaN, 1])
  })

  test('of nothing but −Infinity has the first as its choice', () => {
    const { chosen, logSumExp } = read(new Float32Array(size).fill(Number.NEGATIVE_INFINITY), 1)
    expect([chosen, logSumExp]).toEqual([0, Number.NEGATIVE_INFINITY])
  })
})

test('a forced token is appended in place of the choice, and all logits are a copy', () => {
  const row = Float32Array.of(1, 5, 2)
  const step = readRow(row, { keep: 'full', eos: [2] }, 2, undefined)
  expect(step).toMatchObject({ chosen: 1, token: 2, ended: true, logits: row })
  row[0] = 9
  expect(step.logits![0]).toBe(1)
})
