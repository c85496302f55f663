import { describe, expect, test } from 'vitest'
import type { TensorSpec } from '../../domain/tensor.ts'
import { randomStream } from '../random.ts'
import { fillSignal } from './input-signal.ts'
import { drawText } from './text-image.ts'
import { voicedSignal } from './voiced-signal.ts'

const random = () => randomStream(0, 'x')
const spec = (...shape: number[]): TensorSpec => ({ name: 'x', dtype: 'float32', shape })

describe('voiced signal', () => {
  test('is a waveform with peak near 0.5, alive from the first pitch period on', () => {
    const wave = voicedSignal(16_000)
    expect(Math.max(...wave.map(Math.abs))).toBeCloseTo(0.5, 1)
    for (let at = 0; at < 16_000; at += 400) {
      expect(Math.max(...wave.subarray(at, at + 400).map(Math.abs))).toBeGreaterThan(0.02)
    }
  })

  test('repeats after a pitch period of about 10 ms', () => {
    const wave = voicedSignal(1600)
    const likeness = (lag: number) => {
      let sum = 0
      for (let i = 0; i + lag < wave.length; i++) sum += wave[i]! * wave[i + lag]!
      return sum / (wave.length - lag)
    }
    const lags = Array.from({ length: 160 }, (_, i) => 60 + i)
    const best = lags.reduce((most, lag) => (likeness(lag) > likeness(most) ? lag : most))
    expect(best).toBeGreaterThanOrEqual(155)
    expect(best).toBeLessThanOrEqual(175)
  })

  test('has breath in it: no band is empty, so logarithms of it stay tame', () => {
    const wave = voicedSignal(4096)
    let highest = 0
    for (let i = 3; i < wave.length; i++) {
      highest += Math.abs(wave[i]! - 3 * wave[i - 1]! + 3 * wave[i - 2]! - wave[i - 3]!)
    }
    expect(highest / wave.length).toBeGreaterThan(0.005)
  })

  test('is the same everywhere', () => {
    expect([...voicedSignal(2000).subarray(100, 104)]).toMatchInlineSnapshot(`
      [
        -0.24221066308293784,
        -0.24531887851805703,
        -0.21769233668579258,
        -0.14742434731744786,
      ]
    `)
  })

  test('of no length is empty', () => {
    expect(voicedSignal(0)).toHaveLength(0)
  })

  test('speaks in every row and fills the given levels', () => {
    const rows = fillSignal(spec(2, 800), { signal: 'voiced', range: [-32_768, 32_768] }, random())
    expect([...rows.subarray(0, 800)]).toEqual([...rows.subarray(800)])
    expect(Math.max(...rows.map(Math.abs)) / 16_384).toBeCloseTo(1, 1)
  })
})

describe('drawn text', () => {
  test('shows letters', () => {
    const ink = drawText(9, 64)
    const rows = Array.from({ length: 9 }, (_, y) =>
      [...ink.subarray(y * 64, (y + 1) * 64)]
        .map((value) => (value === 1 ? '#' : ' '))
        .join('')
        .trimEnd(),
    )
    expect(rows).toMatchInlineSnapshot(`
      [
        "   ###   ####  ####  ###  #   #        ###   ###   ###    ##",
        "  #   # #     #     #   # #   #       #   # #   # #   #  #",
        "  #   # #     #     #   #  # #            # #  ##     # #",
        "  #####  ###   ###  #####   #            #  # # #    #  ####",
        "  #   #     #     # #   #   #           #   ##  #   #   #   #",
        "  #   #     #     # #   #   #          #    #   #  #    #   #",
        "  #   # ####  ####  #   #   #         #####  ###  #####  ###",
        "",
        "",
      ]
    `)
  })

  test('is black on white in every channel, channels first or last', () => {
    const first = fillSignal(spec(1, 3, 48, 320), { signal: 'text', range: [-2, 3] }, random())
    const last = fillSignal(spec(1, 48, 320, 3), { signal: 'text', range: [-2, 3] }, random())
    const ink = drawText(48, 320)
    expect(new Set(first)).toEqual(new Set([-2, 3]))
    for (const at of [0, 1000, 5555, 15_359]) {
      const level = ink[at] === 1 ? -2 : 3
      expect([first[at], first[at + 2 * 48 * 320], last[at * 3], last[at * 3 + 2]]).toEqual([
        level,
        level,
        level,
        level,
      ])
    }
  })

  test('needs two axes', () => {
    expect(() => fillSignal(spec(48), { signal: 'text' }, random())).toThrow(
      'input "x" of shape (48) cannot hold drawn text',
    )
  })

  test('is cut off, not wrapped, where the image is too small', () => {
    expect(drawText(3, 4)).toHaveLength(12)
  })
})

describe('plain signals', () => {
  test('ones and zeros', () => {
    expect([...fillSignal(spec(3), { signal: 'ones' }, random())]).toEqual([1, 1, 1])
    expect([...fillSignal(spec(3), { signal: 'zeros' }, random())]).toEqual([0, 0, 0])
  })

  test('normal takes its mean and deviation from the levels', () => {
    const values = fillSignal(spec(5000), { signal: 'normal', range: [8, 12] }, random())
    expect(values.reduce((sum, value) => sum + value, 0) / 5000).toBeCloseTo(10, 0)
    expect(Math.max(...values)).toBeGreaterThan(14)
  })

  test('uniform stays within its levels', () => {
    const values = fillSignal(spec(1000), { signal: 'uniform', range: [2, 3] }, random())
    expect(Math.min(...values)).toBeGreaterThanOrEqual(2)
    expect(Math.max(...values)).toBeLessThan(3)
  })
})
