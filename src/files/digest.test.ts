import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { digestOf, sha256File } from './digest.ts'

const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

test('the digest of a file is the sha256 of its bytes', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'assay-')), 'abc')
  await writeFile(path, 'abc')
  expect(await sha256File(path)).toBe(ABC)
  expect(digestOf(new TextEncoder().encode('abc'))).toBe(ABC)
})

test('the order of keys does not change a digest, the order of items does', () => {
  expect(digestOf({ a: 1, b: { c: 2, d: 3 } })).toBe(digestOf({ b: { d: 3, c: 2 }, a: 1 }))
  expect(digestOf([1, 2])).not.toBe(digestOf([2, 1]))
})

test('values that JSON would confuse have different digests', () => {
  const values = [null, NaN, Infinity, -Infinity, 0, -0, '0', 0n, 'NaN', false, [], {}, new Uint8Array(1), '\0']
  expect(new Set(values.map(digestOf)).size).toBe(values.length)
})

test('what is no plain data is refused instead of digested as {}', () => {
  expect(() => digestOf({ a: new Map([[1, 2]]) })).toThrow(/Map/)
  expect(() => digestOf([undefined])).toThrow(/undefined/)
})
