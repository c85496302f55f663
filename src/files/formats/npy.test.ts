import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { growthOf } from '../../../test/support/growth.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { countBytes } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { decodeStrings, encodeStrings } from '../../tensors/strings.ts'
import { openNpy, readNpy, writeNpy } from './npy.ts'

const newPath = async () => join(await mkdtemp(join(tmpdir(), 'assay-')), 'x.npy')

async function npy(header: string, data: Uint8Array, version = 1): Promise<string> {
  const text = new TextEncoder().encode(`${header}\n`)
  const length = version === 1 ? [text.length & 255, text.length >> 8] : [text.length & 255, text.length >> 8, 0, 0]
  const path = await newPath()
  await writeFile(path, joinBytes([Uint8Array.of(0x93, 78, 85, 77, 80, 89, version, 0, ...length), text, data]))
  return path
}

const dict = (descr: string, shape: string, order = 'False') =>
  `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }`

async function numbers(path: string): Promise<number[]> {
  const { dtype, shape, bytes } = await readNpy(path)
  const out = new Float64Array(shape.reduce((a, b) => a * b, 1))
  decodeNumbers(dtype, bytes, 0, out.length, out)
  return [...out]
}

const storable: DType[] = (Object.keys(DTYPES) as DType[]).filter(
  (dtype) =>
    dtype !== 'string' && (DTYPES[dtype].bits >= 16 || DTYPES[dtype].kind !== 'float') && DTYPES[dtype].bits >= 8,
)

test.each(storable)('%s is written and read back', async (dtype) => {
  const path = await newPath()
  const tensor = { dtype, shape: [2, 3], bytes: new Uint8Array(countBytes(dtype, [2, 3])!).map((_, i) => i & 1) }
  await writeNpy(path, memorySource('x', tensor))
  expect(await readNpy(path)).toEqual(tensor)
})

test('strings are written as text of fixed width and read back', async () => {
  const path = await newPath()
  const bytes = encodeStrings(['', 'ä😀', 'three'])
  await writeNpy(path, memorySource('x', { dtype: 'string', shape: [3], bytes }))
  expect(await readNpy(path)).toEqual({ dtype: 'string', shape: [3], bytes })
})

test('what NumPy cannot hold is refused', async () => {
  const source = memorySource('x', { dtype: 'int4', shape: [2], bytes: new Uint8Array(1) })
  await expect(writeNpy(await newPath(), source)).rejects.toThrow(/npy cannot hold int4/)
})

test.each([1, 2, 3])('version %i is read', async (version) => {
  expect(await numbers(await npy(dict('|u1', '(3,)'), Uint8Array.of(1, 2, 3), version))).toEqual([1, 2, 3])
})

test('big-endian numbers are turned round, complex ones part by part', async () => {
  expect(await numbers(await npy(dict('>i2', '(2,)'), Uint8Array.of(1, 2, 255, 255)))).toEqual([258, -1])
  const complex = await readNpy(await npy(dict('>c8', '()'), Uint8Array.of(0x3f, 0x80, 0, 0, 0x40, 0, 0, 0)))
  const pair = new Float64Array(2)
  decodeNumbers('complex64', complex.bytes, 0, 1, pair)
  expect([...pair]).toEqual([1, 2])
})

test('Fortran order becomes row-major', async () => {
  const path = await npy(dict('|u1', '(2, 3)', 'True'), Uint8Array.of(1, 4, 2, 5, 3, 6))
  expect(await numbers(path)).toEqual([1, 2, 3, 4, 5, 6])
  const cube = await npy(dict('>u2', '(2, 1, 2)', 'True'), Uint8Array.of(0, 1, 0, 3, 0, 2, 0, 4))
  expect(await numbers(cube)).toEqual([1, 2, 3, 4])
})

test('two raw bytes are bfloat16', async () => {
  expect(await numbers(await npy(dict('|V2', '(1,)'), Uint8Array.of(0x80, 0x3f)))).toEqual([1])
})

test('unicode text of both byte orders and byte text are read', async () => {
  const texts = async (path: string) => decodeStrings((await readNpy(path)).bytes, 2)
  const little = Uint8Array.of(97, 0, 0, 0, 0, 0, 0, 0, 0xe9, 0, 0, 0, 98, 0, 0, 0)
  expect(await texts(await npy(dict('<U2', '(2,)'), little))).toEqual(['a', 'éb'])
  const big = Uint8Array.of(0, 0, 0, 97, 0, 0, 0, 0, 0, 1, 0xf6, 0, 0, 0, 0, 98)
  expect(await texts(await npy(dict('>U2', '(2,)'), big))).toEqual(['a', '😀b'])
  expect(await texts(await npy(dict('|S2', '(2,)'), Uint8Array.of(97, 0, 98, 99)))).toEqual(['a', 'bc'])
})

test('chunks of a large file stay within 8 MiB', async () => {
  const path = await newPath()
  const bytes = new Uint8Array(9 * 1024 * 1024)
  await writeNpy(path, memorySource('x', { dtype: 'uint8', shape: [bytes.length], bytes }))
  const lengths: number[] = []
  for await (const chunk of (await openNpy(path)).chunks()) lengths.push(chunk.length)
  expect(lengths).toEqual([8 * 1024 * 1024, 1024 * 1024])
})

describe('hostile files are refused', () => {
  const pickle = new TextEncoder().encode('\x80\x04cos\nsystem\n')
  const cases: [string, () => Promise<string>, RegExp][] = [
    ['Python objects', () => npy(dict('|O', '(1,)'), pickle), /never unpickles/],
    [
      'a structured dtype',
      () => npy(`{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }`, pickle),
      /structured/,
    ],
    ['too few bytes', () => npy(dict('<f4', '(2,)'), new Uint8Array(7)), /7 bytes of data, but .* takes 8/],
    ['too many bytes', () => npy(dict('<f4', '(2,)'), new Uint8Array(9)), /takes 8/],
    ['a shape that overflows', () => npy(dict('<f4', '(4294967296, 4294967296)'), new Uint8Array(4)), /takes/],
    ['a dimension beyond 2^53', () => npy(dict('<f4', '(99999999999999999999,)'), new Uint8Array(4)), /a shape of/],
    [
      'code in the header',
      () => npy(`{'descr': __import__('os').system('x'), 'fortran_order': False, 'shape': ()}`, pickle),
      /not the expected dict/,
    ],
    [
      'a key twice',
      () => npy(`{'descr': '<f4', 'descr': '|O', 'fortran_order': False, 'shape': (1,)}`, new Uint8Array(4)),
      /not the expected dict/,
    ],
    ['an unknown dtype', () => npy(dict('<f16', '(1,)'), new Uint8Array(16)), /dtype "<f16"/],
    ['a wrong version', () => npy(dict('<f4', '(1,)'), new Uint8Array(4), 9), /version 9/],
    [
      'a surrogate as character',
      () => npy(dict('<U1', '(1,)'), Uint8Array.of(0, 0xd8, 0, 0)),
      /not a Unicode character/,
    ],
  ]
  test.each(cases)('%s', async (_, make, message) => {
    await expect(readNpy(await make())).rejects.toThrow(message)
  })

  test.each(['|S0', '<U0'])('strings of no width (%s) are read where they are few', async (descr) => {
    const few = await readNpy(await npy(dict(descr, '(2,)'), new Uint8Array(0)))
    expect(decodeStrings(few.bytes, 2)).toEqual(['', ''])
    const many = await npy(dict(descr, '(4000000000,)'), new Uint8Array(0))
    await expect(readNpy(many)).rejects.toThrow('claims 4000000000 strings of 0 bytes, at most 1024 are read')
  })

  test('a header of digits is read in linear time', async () => {
    const read = async (digits: number) => {
      await expect(readNpy(await npy(dict('<f4', `(${'1'.repeat(digits)}!`), pickle))).rejects.toThrow(/dict/)
    }
    // Each digit with every other one would make it 256.
    expect(await growthOf(read, 3_000, 48_000)).toBeLessThan(80)
  })

  test('a zip, a pickle and an empty file are named as what they are', async () => {
    const path = await newPath()
    await writeFile(path, 'PK\x03\x04aaaaaaaaaaaa')
    await expect(readNpy(path)).rejects.toThrow(/zip archive/)
    await writeFile(path, pickle)
    await expect(readNpy(path)).rejects.toThrow(/expected an \.npy file/)
    await writeFile(path, '')
    await expect(readNpy(path)).rejects.toThrow(/an empty file/)
  })
})
