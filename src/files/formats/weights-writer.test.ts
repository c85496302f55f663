import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memorySource } from '../../tensors/memory-source.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { openTrace } from './safetensors.ts'
import { writeWeights } from './weights-writer.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay weights '))
})
afterEach(() => rmSync(folder, { recursive: true }))

const a = memorySource('a', { dtype: 'float32', shape: [2], bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) }, 4)
const b = memorySource('b.ä', { dtype: 'bfloat16', shape: [1, 1], bytes: Uint8Array.of(9, 10) })

test('weights can be read again, and say that they are PyTorch’s', async () => {
  const path = join(folder, 'model.safetensors')
  const byteLength = await writeWeights(path, [a, b])
  const bytes = readFileSync(path)
  expect(bytes.length).toBe(byteLength)
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString())
  expect(header.__metadata__).toEqual({ format: 'pt' })
  const { tensors } = await openTrace(path)
  expect([...tensors.values()].map(({ name, dtype, shape }) => ({ name, dtype, shape }))).toEqual([
    { name: 'a', dtype: 'float32', shape: [2] },
    { name: 'b.ä', dtype: 'bfloat16', shape: [1, 1] },
  ])
  expect([...(await readWhole(tensors.get('a')!))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect([...(await readWhole(tensors.get('b.ä')!))]).toEqual([9, 10])
})

test('a weight that cannot be read leaves nothing behind', async () => {
  const broken = {
    ...a,
    chunks: async function* () {
      yield Uint8Array.of(1)
      throw new Error('gone')
    },
  }
  await expect(writeWeights(join(folder, 'model.safetensors'), [broken])).rejects.toThrow('gone')
  expect(readdirSync(folder)).toEqual([])
})
