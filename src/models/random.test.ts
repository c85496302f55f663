import { describe, expect, test } from 'vitest'
import { randomStream } from './random.ts'

describe('random streams', () => {
  test('are the same everywhere, for ever', () => {
    const stream = randomStream(0, 'x')
    expect([stream.bits(), stream.bits(), stream.bits(), stream.bits()]).toMatchInlineSnapshot(`
      [
        2153303044,
        247287987,
        3575256281,
        2534337734,
      ]
    `)
    expect(stream.unit()).toMatchInlineSnapshot(`0.9945381283760071`)
    expect(stream.unit53()).toMatchInlineSnapshot(`0.6908224364815033`)
    expect(stream.normal()).toMatchInlineSnapshot(`-0.3096845746040344`)
  })

  test('differ by name and by seed', () => {
    const first = (seed: number, name: string) => randomStream(seed, name).bits()
    expect(new Set([first(0, 'x'), first(0, 'y'), first(1, 'x'), first(0, ''), first(0, 'x ')]).size).toBe(5)
  })

  test('units are spread evenly over [0, 1) and fit a float32', () => {
    const stream = randomStream(3, 'even')
    const counts = new Array<number>(10).fill(0)
    for (let i = 0; i < 10_000; i++) {
      const unit = stream.unit()
      expect(unit).toBe(Math.fround(unit))
      counts[Math.floor(unit * 10)]!++
    }
    expect(Math.min(...counts)).toBeGreaterThan(900)
    expect(Math.max(...counts)).toBeLessThan(1100)
  })

  test('integers include both ends and nothing else', () => {
    const stream = randomStream(3, 'dice')
    const seen = new Set(Array.from({ length: 500 }, () => stream.integer(-2, 3)))
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3])
  })

  test('normals have mean 0 and deviation 1', () => {
    const stream = randomStream(3, 'bell')
    const values = Array.from({ length: 20_000 }, () => stream.normal())
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
    expect(mean).toBeCloseTo(0, 1)
    expect(variance).toBeCloseTo(1, 1)
  })
})
