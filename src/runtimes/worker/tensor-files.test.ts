import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTrace } from '../../files/formats/safetensors.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import type { FiledTensor } from '../protocol/messages.ts'
import { LOCAL_FILES } from './tensor-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-tensor-files-'))
const path = join(folder, 'values')
writeFileSync(
  path,
  Uint8Array.from({ length: 16 }, (_, i) => i),
)

const filed = (name: string, start: number, count: number): FiledTensor => ({
  name,
  dtype: 'uint8',
  shape: [count],
  path,
  start,
})

test('inputs are read where they lie', async () => {
  const read = LOCAL_FILES.read([filed('a', 2, 3), filed('b', 8, 4), filed('none', 0, 0)])
  const bytes = await Promise.all([...read.values()].map(readWhole))
  expect(bytes.map((each) => [...each])).toEqual([[2, 3, 4], [8, 9, 10, 11], []])
})

test('a file that ends before a tensor, and one that is none, are refused', () => {
  expect(() => LOCAL_FILES.read([filed('a', 14, 4)])).toThrow(/input "a" is not whole/)
  expect(() => LOCAL_FILES.read([{ ...filed('a', 0, 4), path: folder }])).toThrow(/not a regular file/)
})

test('what a run gives becomes a trace, up to the limit', async () => {
  const run = async (limit: number, name: string) => {
    const bytes = new Uint8Array([1, 2, 3, 4])
    const out = join(folder, name)
    await LOCAL_FILES.runInto(out, limit, async (sink) => {
      await sink({ name: 'y', dtype: 'float32', shape: [1], offset: 0, last: true, bytes })
      return { durationMs: 1, values: [{ name: 'y', kind: 'tensor', length: 1 }] }
    })
    return openTrace(out)
  }
  const { tensors } = await run(4, 'kept')
  expect([...(await readWhole(tensors.get('y')!))]).toEqual([1, 2, 3, 4])
  expect(tensors.get('y')!.maxAbs).toBeUndefined()
  await expect(run(3, 'over')).rejects.toThrow(/take more than the limit of 3 bytes/)
})
