import { describe, expect, test } from 'vitest'
import { DTYPES, type DType } from '../domain/dtype.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import { memorySource } from '../tensors/memory-source.ts'
import { encodeStrings } from '../tensors/strings.ts'
import type { Rule } from './contract.ts'
import { compare, EXACT, integers, tensor } from './testing/tensors.ts'

const NUMERIC = (Object.keys(DTYPES) as DType[]).filter((dtype) => dtype !== 'string')
const QUANTISED: Rule = { kind: 'quantised', steps: 1, allowedMismatch: 0.01, source: 'quantised' }

describe('integers, booleans and strings', () => {
  test('an int64 beyond 2^53 that is off by one fails, with exact texts', async () => {
    const result = await compare(integers([9007199254740993n, 5n]), integers([9007199254740992n, 5n]), EXACT)
    expect(result.verdict).toBe('fail')
    expect(result.worst).toEqual([
      { tensor: 'y', index: [0], reference: '9007199254740993', target: '9007199254740992', error: 1, allowed: 0 },
    ])
    const unsigned = await compare(integers([2n ** 64n - 1n], 'uint64'), integers([2n ** 64n - 2n], 'uint64'), EXACT)
    expect(unsigned.verdict).toBe('fail')
  })

  test('integers are exact even under a float rule', async () => {
    const result = await compare(tensor('int32', [1000000, 2]), tensor('int32', [1000001, 2]))
    expect(result).toMatchObject({ verdict: 'fail', rule: 'integers: exactly equal', flags: [] })
  })

  test('a uint8 off by one passes as quantised and fails exactly', async () => {
    const values = Array.from({ length: 200 }, (_, i) => i)
    const moved = values.map((value, i) => (i === 7 ? value + 1 : value))
    expect((await compare(tensor('uint8', values), tensor('uint8', moved), QUANTISED)).verdict).toBe('pass')
    expect((await compare(tensor('uint8', values), tensor('uint8', moved), EXACT)).verdict).toBe('fail')
  })

  test('quantised values two steps off, or off in too many places, fail', async () => {
    const values = Array.from({ length: 200 }, (_, i) => i)
    const two = values.map((value, i) => (i === 7 ? value + 2 : value))
    const many = values.map((value, i) => (i < 3 ? value + 1 : value))
    const far = await compare(tensor('uint8', values), tensor('uint8', two), QUANTISED)
    expect(far).toMatchObject({ verdict: 'fail', reason: '1 of 200 values are more than 1 off' })
    const often = await compare(tensor('uint8', values), tensor('uint8', many), QUANTISED)
    expect(often).toMatchObject({ verdict: 'fail', reason: '3 of 200 values differ, 2 may' })
    expect(often.wouldPass).toBe('1 steps off in 1.5 % of the values')
  })

  test('a step of a quantised 8-bit float is an ulp', async () => {
    const values = Array.from({ length: 200 }, () => 256)
    const moved = (to: number) =>
      tensor(
        'float8e4m3fn',
        values.map((v, i) => (i === 3 ? to : v)),
      )
    expect((await compare(tensor('float8e4m3fn', values), moved(288), QUANTISED)).verdict).toBe('pass')
    expect((await compare(tensor('float8e4m3fn', values), moved(320), QUANTISED)).verdict).toBe('fail')
  })

  test('the last of an odd number of 4-bit elements is compared, the unused bits are not', async () => {
    const rule = EXACT
    const source = (bytes: number[]) => memorySource('y', { dtype: 'uint4', shape: [3], bytes: Uint8Array.from(bytes) })
    expect((await compare(source([0x21, 0x03]), source([0x21, 0xf3]), rule)).verdict).toBe('pass')
    const result = await compare(source([0x21, 0x03]), source([0x21, 0x04]), rule)
    expect(result).toMatchObject({ verdict: 'fail', worst: [{ index: [2], reference: '3', target: '4' }] })
  })

  test.each(NUMERIC)(
    '%s: one changed bit in the last byte fails exactly, and its element is the one shown',
    async (dtype) => {
      const bytes = encodeNumbers(dtype, new Array(dtype.startsWith('complex') ? 14 : 7).fill(1))
      const changed = bytes.slice()
      changed[changed.length - 1]! ^= 1
      const source = (of: Uint8Array) => memorySource('y', { dtype, shape: [7], bytes: of })
      expect((await compare(source(bytes), source(bytes), EXACT)).verdict).toBe('pass')
      expect(await compare(source(bytes), source(changed), EXACT)).toMatchObject({
        verdict: 'fail',
        mismatches: { count: 1 },
        worst: [{ index: [DTYPES[dtype].bits === 2 ? 4 : 6] }],
      })
    },
  )

  test('booleans are exact', async () => {
    expect((await compare(tensor('bool', [1, 0]), tensor('bool', [1, 1]))).verdict).toBe('fail')
    expect((await compare(tensor('bool', [1, 0]), tensor('bool', [1, 0]))).verdict).toBe('pass')
  })

  test('strings are exact, whatever the chunks', async () => {
    const source = (strings: string[], chunkBytes?: number) =>
      memorySource('y', { dtype: 'string', shape: [strings.length], bytes: encodeStrings(strings) }, chunkBytes)
    expect((await compare(source(['a', 'ü', '']), source(['a', 'ü', ''], 3))).verdict).toBe('pass')
    const result = await compare(source(['a', 'ü', '']), source(['a', 'u', ''], 1))
    expect(result).toMatchObject({ verdict: 'fail', worst: [{ index: [1], reference: '"ü"', target: '"u"' }] })
  })
})

describe('hostile strings', () => {
  test('many empty strings do not take a promise each', async () => {
    const count = 10_000
    const source = () => memorySource('y', { dtype: 'string', shape: [count], bytes: new Uint8Array(4 * count) })
    let [turns, isDone] = [0, false]
    const comparing = compare(source(), source()).finally(() => {
      isDone = true
    })
    for (; !isDone; turns++) await null
    expect((await comparing).verdict).toBe('pass')
    expect(turns).toBeLessThan(1000)
  })

  test('a length beyond the tensor cannot be judged and is not allocated', async () => {
    const honest = memorySource('y', { dtype: 'string', shape: [1], bytes: encodeStrings(['a']) })
    const hostile = memorySource('y', { dtype: 'string', shape: [1], bytes: Uint8Array.of(255, 255, 255, 255, 65) })
    await expect(compare(honest, hostile)).rejects.toThrow('a string of the target claims 4294967295 bytes')
  })

  test('strings that are missing or left over cannot be judged', async () => {
    const source = (strings: string[]) =>
      memorySource('y', { dtype: 'string', shape: [2], bytes: encodeStrings(strings) })
    await expect(compare(source(['a', 'b']), source(['a']))).rejects.toThrow('of the target gave fewer than')
    await expect(compare(source(['a', 'b']), source(['a', 'b', 'c']))).rejects.toThrow('of the target gave more than')
  })
})
