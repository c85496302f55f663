import { expect, test } from 'vitest'
import { ScalarKernels } from './scalar.ts'
import * as at from './survey-layout.ts'
import { WasmKernels } from './wasm.ts'

const PLACES = at.MOMENTS_TARGET + 4

test.each([1, 2, 3, 31, 2047, 2048])('a survey of %i pairs is that of the referee', async (count) => {
  const all = [await WasmKernels.load(), new ScalarKernels()].map((kernels) => {
    for (let i = 0; i < count; i++) {
      kernels.reference[i] = 1000 + Math.sin(i * 1.3) * 7
      kernels.target[i] = kernels.reference[i]! + Math.cos(i * 0.7) * 1e-3
    }
    kernels.survey(count, 0.25)
    const { results, difference, squares } = kernels
    return {
      results: results.slice(0, PLACES),
      difference: difference.slice(0, count),
      squares: squares.slice(0, count),
    }
  })
  const [fast, referee] = all as [(typeof all)[0], (typeof all)[0]]
  expect([fast.difference, fast.squares]).toEqual([referee.difference, referee.squares])
  for (let place = 0; place < PLACES; place++) {
    const wanted = referee.results[place]!
    expect(Math.abs(fast.results[place]! - wanted), `place ${place}`).toBeLessThanOrEqual(
      1e-12 * (1e-3 + Math.abs(wanted)),
    )
  }
})

test('the smallest and the largest are those of all numbers, whichever is the last', async () => {
  const kernels = await WasmKernels.load()
  kernels.reference.set([-5, 2, 9])
  kernels.target.set([4, 4, -8])
  kernels.survey(3, 0)
  const [, , least, most] = kernels.results.slice(at.MOMENTS_REFERENCE)
  const [, , leastTarget, mostTarget] = kernels.results.slice(at.MOMENTS_TARGET)
  expect([least, most, leastTarget, mostTarget]).toEqual([-5, 9, -8, 4])
})
