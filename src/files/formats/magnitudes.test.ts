import { expect, test } from 'vitest'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { Magnitudes } from './magnitudes.ts'

const floats = (Object.keys(DTYPES) as DType[]).filter((dtype) => DTYPES[dtype].kind === 'float')

function slowly(dtype: DType, bytes: Uint8Array, count: number) {
  const numbers = new Float64Array(count)
  decodeNumbers(dtype, bytes, 0, count, numbers)
  const finite = numbers.filter(Number.isFinite)
  const zeros = finite.length === count ? finite.filter((x) => x === 0).length : null
  return { largest: Math.max(0, ...finite.map(Math.abs)), zeros }
}

test.each(floats)('of %s are what decoding every element finds, however the bytes are cut', (dtype) => {
  let state = 12345
  for (let round = 0; round < 200; round++) {
    const count = 1 + (round % 9)
    const bytes = new Uint8Array(Math.ceil((count * DTYPES[dtype].bits) / 8)).map(() => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return round % 3 === 0 && state >>> 31 ? (state >>> 23) & 0x80 : state >>> 24
    })
    const magnitudes = new Magnitudes(dtype, [count])
    const cut = round % (bytes.length + 1)
    magnitudes.add(bytes.subarray(0, cut))
    magnitudes.add(bytes.subarray(cut))
    const { largest, zeros } = magnitudes
    expect({ largest, zeros }).toEqual(slowly(dtype, bytes, count))
  }
})

test('of many float32 are found in all of them', () => {
  const count = 50_001
  const values = Float32Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 0 : i % 3 === 1 ? -0 : 1e-45))
  values[count - 1] = -7
  const survey = () => {
    const magnitudes = new Magnitudes('float32', [count])
    magnitudes.add(new Uint8Array(values.buffer))
    return [magnitudes.largest, magnitudes.zeros]
  }
  expect(survey()).toEqual([7, 33_334])
  values[20_000] = Number.NaN
  values[0] = Number.NEGATIVE_INFINITY
  expect(survey()).toEqual([7, null])
})

test('bits behind the last element do not count', () => {
  const magnitudes = new Magnitudes('float4e2m1', [1])
  magnitudes.add(Uint8Array.of(0x72))
  expect([magnitudes.largest, magnitudes.zeros]).toEqual([1, 0])
})
