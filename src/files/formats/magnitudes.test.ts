import { expect, test } from 'vitest'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { Magnitudes } from './magnitudes.ts'

const floats = (Object.keys(DTYPES) as DType[]).filter((dtype) => DTYPES[dtype].kind === 'float')

function slowly(dtype: DType, bytes: Uint8Array, count: number): number {
  const numbers = new Float64Array(count)
  decodeNumbers(dtype, bytes, 0, count, numbers)
  return numbers.reduce((found, x) => (Number.isFinite(x) ? Math.max(found, Math.abs(x)) : found), 0)
}

test.each(floats)('of %s it is what decoding every element finds, however the bytes are cut', (dtype) => {
  let state = 12345
  for (let round = 0; round < 200; round++) {
    const count = 1 + (round % 9)
    const bytes = new Uint8Array(Math.ceil((count * DTYPES[dtype].bits) / 8)).map(() => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return state >>> 24
    })
    const magnitudes = new Magnitudes(dtype, [count])
    const cut = round % (bytes.length + 1)
    magnitudes.add(bytes.subarray(0, cut))
    magnitudes.add(bytes.subarray(cut))
    expect(magnitudes.largest).toBe(slowly(dtype, bytes, count))
  }
})

test('bits behind the last element do not count', () => {
  const magnitudes = new Magnitudes('float4e2m1', [1])
  magnitudes.add(Uint8Array.of(0x72))
  expect(magnitudes.largest).toBe(1)
})
