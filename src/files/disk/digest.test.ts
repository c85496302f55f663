import { mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { computeDigest, FileDigests, sha256File } from './digest.ts'

const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

test('the digest of a file is the sha256 of its bytes', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'assay-')), 'abc')
  await writeFile(path, 'abc')
  expect(await sha256File(path)).toBe(ABC)
  expect(computeDigest(new TextEncoder().encode('abc'))).toBe(ABC)
})

test('the order of keys does not change a digest, the order of items does', () => {
  expect(computeDigest({ a: 1, b: { c: 2, d: 3 } })).toBe(computeDigest({ b: { d: 3, c: 2 }, a: 1 }))
  expect(computeDigest([1, 2])).not.toBe(computeDigest([2, 1]))
})

test('values that JSON would confuse have different digests', () => {
  const values = [null, NaN, Infinity, -Infinity, 0, -0, '0', 0n, 'NaN', false, [], {}, new Uint8Array(1), '\0']
  expect(new Set(values.map(computeDigest)).size).toBe(values.length)
})

test('what is no plain data is refused instead of digested as {}', () => {
  expect(() => computeDigest({ a: new Map([[1, 2]]) })).toThrow(/Map/)
  expect(() => computeDigest([undefined])).toThrow(/undefined/)
})

test('what a large file gave is kept for later runs, until the file changes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-'))
  const [path, kept] = [join(folder, 'weights'), join(folder, 'kept')]
  const digest = () => new FileDigests(kept, 2).of(path)
  await writeFile(path, 'abc')
  expect(await digest()).toBe(ABC)
  await expect(readdir(kept), 'it may change again within the same instant').rejects.toThrow('ENOENT')
  await utimes(path, 1e9, 1e9)
  expect(await digest()).toBe(ABC)
  const [record] = await readdir(kept)
  const marker = 'f'.repeat(64)
  await writeFile(join(kept, record!), marker)
  expect(await digest()).toBe(marker)
  await writeFile(join(kept, record!), 'torn')
  expect(await digest()).toBe(ABC)
  await writeFile(path, 'abd')
  await utimes(path, 1e9, 1e9)
  expect(await digest()).toBe(await sha256File(path))
})

test('where nothing can be kept a file is read again', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'assay-')), 'abc')
  await writeFile(path, 'abc')
  await utimes(path, 1e9, 1e9)
  expect(await new FileDigests(join(path, 'no folder'), 2).of(path)).toBe(ABC)
})
