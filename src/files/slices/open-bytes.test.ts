import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { memorySource } from '../../tensors/memory-source.ts'
import type { TensorBytes } from '../../tensors/tensor-bytes.ts'
import { openBytes, openFileBytes } from './open-bytes.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay bytes '))
afterAll(() => rmSync(folder, { recursive: true }))

const COUNT = 3_000_000
const all = Uint8Array.from({ length: COUNT }, (_, i) => (i * 31 + (i >> 8)) & 0xff)
const path = join(folder, 'tensor.bin')
writeFileSync(path, Buffer.concat([Buffer.from('head'), all, Buffer.from('tail')]))

function check(bytes: TensorBytes, places: readonly (readonly [offset: number, byteLength: number])[]): void {
  for (const [offset, byteLength] of places) {
    const isSame = Buffer.compare(bytes.read(offset, byteLength), all.subarray(offset, offset + byteLength)) === 0
    expect([offset, byteLength, isSame]).toEqual([offset, byteLength, true])
  }
  bytes.close()
}

describe('bytes in a file are read', () => {
  const open = () => openFileBytes({ path, start: 4 }, COUNT)
  const every = (step: number, byteLength: number) =>
    Array.from({ length: Math.ceil((COUNT - byteLength) / step) }, (_, i) => [i * step, byteLength] as const)

  test('one after the other', () => check(open(), every(65_536, 65_536)))
  test('with small gaps', () => check(open(), every(3000, 8)))
  test('with large gaps', () => check(open(), every(100_000, 8)))
  test('backwards', () => check(open(), every(70_000, 5000).toReversed()))
  test('back and forth, and up to the end', () => {
    const places = [[COUNT - 2, 1] as const, [COUNT - 1, 1] as const, [0, 1] as const, [1, COUNT - 1] as const]
    check(open(), [...places, ...places])
  })
})

test('a tensor that is in no file unchanged is loaded', async () => {
  check(await openBytes(memorySource('x', { dtype: 'uint8', shape: [COUNT], bytes: all })), [[7, 100]])
})
