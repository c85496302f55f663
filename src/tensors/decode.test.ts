import { describe, expect, test } from 'vitest'
import { DTYPES, type DType } from '../domain/dtype.ts'
import { decodeBigInts, decodeDifferences, decodeNumbers } from './decode.ts'
import { encodeBigInts, encodeNumbers } from './encode.ts'
import { decodeStrings, encodeStrings } from './strings.ts'

function numbers(dtype: DType, bytes: Uint8Array, first: number, count: number): number[] {
  const out = new Float64Array(count * (DTYPES[dtype].kind === 'complex' ? 2 : 1))
  decodeNumbers(dtype, bytes, first, count, out)
  return Array.from(out)
}

describe('decoding', () => {
  test.each([
    ['float32', [0, -1.5, 3.25]],
    ['float64', [0.1, -1e300, 5e-324]],
    ['float16', [1, -65504, 2 ** -24]],
    ['bfloat16', [1, -3.140625, 2 ** 100]],
    ['int8', [-128, 127, 0]],
    ['uint8', [0, 255, 1]],
    ['int16', [-32768, 32767, 1]],
    ['uint16', [0, 65535, 1]],
    ['int32', [-(2 ** 31), 2 ** 31 - 1, 0]],
    ['uint32', [0, 2 ** 32 - 1, 7]],
    ['int64', [-1, 2 ** 40, -(2 ** 53)]],
    ['uint64', [0, 2 ** 53, 1]],
    ['bool', [1, 0, 1]],
    ['int4', [-8, 7, -1]],
    ['uint4', [15, 0, 9]],
    ['int2', [-2, 1, -1]],
    ['uint2', [3, 0, 2]],
    ['float4e2m1', [6, -0.5, 1.5]],
    ['float8e4m3fn', [448, -0.015625, 1]],
    ['float8e5m2', [57344, -1, 0.25]],
  ] as const)('%s reads back what was written, from any element on', (dtype, values) => {
    const bytes = encodeNumbers(dtype, values)
    expect(bytes.byteLength).toBe(Math.ceil((values.length * DTYPES[dtype].bits) / 8))
    expect(numbers(dtype, bytes, 0, 3)).toEqual([...values])
    expect(numbers(dtype, bytes, 1, 2)).toEqual(values.slice(1))
  })

  test.each(['float32', 'float64', 'float16', 'int64', 'complex128'] as const)(
    '%s is read at an odd address',
    (dtype) => {
      const bytes = encodeNumbers(dtype, [1, 2])
      const shifted = new Uint8Array(bytes.byteLength + 1)
      shifted.set(bytes, 1)
      const count = dtype === 'complex128' ? 1 : 2
      expect(numbers(dtype, shifted.subarray(1), 0, count)).toEqual([1, 2])
      expect(numbers(dtype, Buffer.from(shifted.buffer).subarray(1), 0, count)).toEqual([1, 2])
    },
  )

  test('4-bit elements are packed low bits first and an odd count leaves half a byte', () => {
    expect(encodeNumbers('uint4', [1, 2, 3])).toEqual(Uint8Array.of(0x21, 0x03))
    expect(encodeNumbers('int4', [-1, 1])).toEqual(Uint8Array.of(0x1f))
    expect(encodeNumbers('uint2', [0, 1, 2, 3, 1])).toEqual(Uint8Array.of(0b11100100, 0b01))
  })

  test('complex numbers are pairs', () => {
    expect(numbers('complex64', encodeNumbers('complex64', [1, 2, 3, 4]), 1, 1)).toEqual([3, 4])
  })

  test('64-bit integers beyond 2^53 are exact as BigInt', () => {
    const values = [2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n]
    expect(decodeBigInts('int64', encodeBigInts('int64', values), 0, 3)).toEqual(values)
    expect(decodeBigInts('uint64', encodeBigInts('uint64', [2n ** 64n - 1n]), 0, 1)).toEqual([2n ** 64n - 1n])
    expect(decodeBigInts('int4', encodeBigInts('int4', [-8n, 7n, 3n]), 1, 2)).toEqual([7n, 3n])
  })

  test('differences of 64-bit integers are not lost in rounding', () => {
    const out = new Float64Array(3)
    const reference = encodeBigInts('int64', [9007199254740993n, -1n, 2n ** 63n - 1n])
    const target = encodeBigInts('int64', [9007199254740992n, 0n, -(2n ** 63n)])
    decodeDifferences('int64', reference, target, 3, out)
    expect(Array.from(out)).toEqual([-1, 1, -(2 ** 64)])
  })

  test('truncated bytes are refused', () => {
    expect(() => numbers('float32', new Uint8Array(7), 0, 2)).toThrow('need 8 bytes, found 7')
    expect(() => numbers('int4', new Uint8Array(1), 0, 3)).toThrow('need 2 bytes, found 1')
    expect(() => numbers('float32', new Uint8Array(8), -1, 1)).toThrow('truncated')
  })

  test('numbers that an integer dtype cannot hold are refused instead of wrapped', () => {
    expect(() => encodeNumbers('uint8', [256])).toThrow('256 cannot be written as uint8, which holds 0 to 255')
    expect(() => encodeNumbers('int4', [8])).toThrow('holds -8 to 7')
    expect(() => encodeNumbers('int32', [1.5])).toThrow('whole number')
    expect(() => encodeBigInts('int64', [2n ** 63n])).toThrow('cannot be written as int64')
  })
})

describe('strings', () => {
  test('are read back, empty and non-ASCII ones too', () => {
    const strings = ['', 'über', '\u{1F600}', '\uFEFFa']
    expect(decodeStrings(encodeStrings(strings), 4)).toEqual(strings)
  })

  test('a length beyond the end, missing strings and left-over bytes are refused', () => {
    expect(() => decodeStrings(Uint8Array.of(255, 255, 255, 255, 65), 1)).toThrow('only 5 bytes were found')
    expect(() => decodeStrings(encodeStrings(['a']), 2)).toThrow('string 1 ends at byte')
    expect(() => decodeStrings(encodeStrings(['a', 'b']), 1)).toThrow('end at byte 5')
  })

  test('invalid UTF-8 is refused', () => {
    expect(() => decodeStrings(Uint8Array.of(1, 0, 0, 0, 0xff), 1)).toThrow('not UTF-8')
  })
})
