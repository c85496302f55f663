import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TensorChunk } from '../../domain/tensor.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import type { FiledTensor, RunFiles } from '../protocol/messages.ts'
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

/** One run with these files, which gives these bytes as `y`. */
async function run(files: Partial<RunFiles>, bytes: readonly number[], chunk: Partial<TensorChunk> = {}) {
  const outputs = join(mkdtempSync(join(folder, 'run-')), 'trace')
  const open = LOCAL_FILES.open({ inputs: [], outputs, byteLimit: 100, ...files })
  try {
    const inputs = open.read()
    const { equal } = await open.runInto(async (sink) => {
      const y = { name: 'y', dtype: 'uint8', shape: [bytes.length], offset: 0, last: true } as const
      await sink({ ...y, bytes: new Uint8Array(bytes), ...chunk })
      return { durationMs: 1, values: [{ name: 'y', kind: 'tensor', length: 1 }] }
    })
    return { inputs, equal, tensors: (await openTrace(outputs)).tensors }
  } finally {
    open.close()
  }
}

describe('inputs', () => {
  test('are read where they lie', async () => {
    const { inputs } = await run(
      { inputs: [filed('a', 2, 3), filed('b', 8, 4), filed('c', 2, 3), filed('none', 0, 0)] },
      [],
    )
    const bytes = await Promise.all([...inputs.values()].map(readWhole))
    expect(bytes.map((each) => [...each])).toEqual([[2, 3, 4], [8, 9, 10, 11], [2, 3, 4], []])
  })

  test('in a file that ends before a tensor, or is none, are refused', async () => {
    await expect(run({ inputs: [filed('a', 14, 4)] }, [])).rejects.toThrow(/"a" is not whole/)
    await expect(run({ inputs: [{ ...filed('a', 0, 4), path: folder }] }, [])).rejects.toThrow(/not a regular file/)
  })
})

describe('what a run gives', () => {
  test('becomes a trace, up to the limit', async () => {
    const { tensors, equal } = await run({ byteLimit: 4 }, [1, 2, 3, 4])
    expect([...(await readWhole(tensors.get('y')!))]).toEqual([1, 2, 3, 4])
    expect(tensors.get('y')!.maxAbs).toBeUndefined()
    expect(equal).toEqual([])
    await expect(run({ byteLimit: 3 }, [1, 2, 3, 4])).rejects.toThrow(/take more than the limit of 3 bytes/)
  })

  test.each([[[]], [[filed('x', 4, 4)]]])('is not written where it is what was expected', async (inputs) => {
    const { tensors, equal } = await run({ inputs, expected: [filed('y', 4, 4)], byteLimit: 0 }, [4, 5, 6, 7])
    expect(equal).toEqual(['y'])
    expect([...tensors]).toEqual([])
  })

  test.each([
    ['another bit', {}, [4, 5, 6, 6]],
    ['another dtype', { dtype: 'int8' }, [4, 5, 6, 7]],
    ['another shape', { shape: [2, 2] }, [4, 5, 6, 7]],
    ['fewer elements', {}, [4, 5, 6]],
    ['more elements', {}, [4, 5, 6, 7, 8]],
    ['another name', { name: 'y2' }, [4, 5, 6, 7]],
  ] as const)('is written where it has %s', async (_, chunk, bytes) => {
    for (const inputs of [[], [filed('x', 4, 4)]]) {
      const given = run({ inputs, expected: [filed('y', 4, 4)] }, bytes, chunk)
      if ('name' in chunk) await expect(given).rejects.toThrow(/y/)
      else expect([...(await given).tensors.keys()]).toEqual(['y'])
    }
  })
})
