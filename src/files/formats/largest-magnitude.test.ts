import { expect, test } from 'vitest'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { LargestMagnitude } from './largest-magnitude.ts'

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
    const magnitude = new LargestMagnitude(dtype, [count])
    const cut = round % (bytes.length + 1)
    magnitude.add(bytes.subarray(0, cut))
    magnitude.add(bytes.subarray(cut))
    expect(magnitude.value).toBe(slowly(dtype, bytes, count))
  }
})

test('bits behind the last element do not count', () => {
  const magnitude = new LargestMagnitude('float4e2m1', [1])
  magnitude.add(Uint8Array.of(0x72))
  expect(magnitude.value).toBe(1)
})
