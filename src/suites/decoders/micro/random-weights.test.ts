import { expect, test } from 'vitest'
import { readWhole } from '../../../tensors/read-whole.ts'
import { randomWeight } from './random-weights.ts'

const SPEC = { name: 'w', shape: [400, 500], mean: 1, deviation: 0.25 }

test('weights have the mean and deviation that were asked for', async () => {
  const values = new Float32Array((await readWhole(randomWeight(SPEC, 7, 'float32'))).buffer)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  expect(mean).toBeCloseTo(1, 2)
  expect(Math.sqrt(variance)).toBeCloseTo(0.25, 2)
})

test('seed and name decide, not the order in which weights are drawn', async () => {
  const first = (name: string, seed: number) => readWhole(randomWeight({ ...SPEC, name, shape: [4] }, seed, 'float32'))
  expect(await first('a', 1)).toEqual(await first('a', 1))
  expect(await first('a', 1)).not.toEqual(await first('b', 1))
  expect(await first('a', 1)).not.toEqual(await first('a', 2))
})
