import { expect, test } from 'vitest'
import { memorySource } from './memory-source.ts'
import { loadBytes } from './tensor-bytes.ts'

test('a loaded tensor is read at any place', async () => {
  const source = memorySource('x', { dtype: 'uint8', shape: [6], bytes: Uint8Array.of(0, 1, 2, 3, 4, 5) }, 4)
  const bytes = await loadBytes(source)
  expect([...bytes.read(3, 2)]).toEqual([3, 4])
  expect([...bytes.read(0, 6)]).toEqual([0, 1, 2, 3, 4, 5])
})

test('a tensor of more than 1 GiB is refused before it is read', async () => {
  const source = memorySource('x', { dtype: 'uint8', shape: [2 ** 30 + 1], bytes: new Uint8Array(0) })
  await expect(loadBytes({ ...source, byteLength: 2 ** 30 + 1 })).rejects.toThrow(
    'tensor "x" has 1073741825 bytes that must be read at once, and the limit is 1073741824; store it as .npy or safetensors',
  )
})
