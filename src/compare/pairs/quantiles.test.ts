import { describe, expect, test } from 'vitest'
import { FewNumbers, Quantiles } from './quantiles.ts'

function quantiles(...blocks: number[][]): Quantiles {
  return new Quantiles(
    blocks.map((block) => {
      const few = new FewNumbers()
      few.add(Float64Array.from(block))
      const bins = new Float64Array(32768)
      for (const bits of new Uint32Array(Float32Array.from(block).buffer)) bins[bits >>> 16]!++
      return { few: few.all, bins, count: block.length, least: Math.min(...block), most: Math.max(0, ...block) }
    }),
  )
}

const COUNT_UP = Array.from({ length: 5000 }, (_, i) => (i + 1) / 1000)

describe('quantiles', () => {
  test('of nothing are missing', () => {
    expect(quantiles([]).at(0.5)).toBeNull()
  })

  test('of few numbers are exact, by nearest rank', () => {
    const few = quantiles([5, 1], [3, 2], [4])
    expect([0, 0.5, 0.8, 0.99, 1].map((q) => few.at(q))).toEqual([1, 3, 4, 5, 5])
  })

  test('of many numbers are within 0.4 %, whatever the blocks', () => {
    const [whole, split] = [quantiles(COUNT_UP), quantiles(COUNT_UP.slice(0, 4000), COUNT_UP.slice(4000))]
    for (const q of [0.01, 0.5, 0.99]) {
      expect(Math.abs(whole.at(q)! - q * 5)).toBeLessThanOrEqual(0.004 * q * 5)
      expect(split.at(q)).toBe(whole.at(q))
    }
  })

  test('never leave the range of the numbers', () => {
    const same = quantiles(new Array(5000).fill(0.1))
    expect(same.at(0.5)).toBe(0.1)
    expect(quantiles(new Array(5000).fill(0)).at(0.99)).toBe(0)
    expect(quantiles(new Array(5000).fill(1e300)).at(0.99)).toBe(1e300)
  })
})
