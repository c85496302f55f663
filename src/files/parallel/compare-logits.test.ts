import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareLogits } from '../../compare/logits.ts'
import type { DType } from '../../domain/dtype.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { openNpy, writeNpy } from '../formats/npy.ts'
import { compareLogitTensors } from './compare-logits.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-logits-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Rows so long that the kernels write over those that they turn out not to hold. */
const [ROWS, SIZE] = [40, 3333]
const reference = Float32Array.from({ length: ROWS * SIZE }, (_, i) => Math.fround(Math.sin(i * 1.7) * 5))
const target = reference.map((value, i) => value + 0.1 * Math.cos(i * 0.3))
target[5 * SIZE + 7] = Number.NaN
for (const masked of [1, 2000, 3332])
  reference[8 * SIZE + masked] = target[8 * SIZE + masked] = Number.NEGATIVE_INFINITY

async function stored(dtype: DType, values: Float32Array, shape: readonly number[]): Promise<TensorSource> {
  const path = join(folder, `${dtype}-${values === target ? 'target' : 'reference'}.npy`)
  await writeNpy(path, memorySource('logits', { dtype, shape, bytes: encodeNumbers(dtype, values) }))
  return openNpy(path)
}

describe('logits in files', () => {
  test('give the same rows with any number of threads, and as in memory', async () => {
    const shape = [4, ROWS / 4, SIZE]
    const files = [await stored('float32', reference, shape), await stored('float32', target, shape)] as const
    const row = (values: Float32Array, i: number) => values.subarray(i * SIZE, (i + 1) * SIZE)
    const pairs = Array.from({ length: ROWS }, (_, i) => [row(reference, i), row(target, i)] as const)
    const alone = await compareLogits(pairs, 20)
    expect(alone.map(({ nonFinite }) => nonFinite).indexOf(1)).toBe(5)
    expect(alone[8]!.masked).toBe(3)
    expect(alone[8]!.full.kl).toBeGreaterThan(1e-4)
    for (const threads of [1, 2, 4]) expect(await compareLogitTensors(...files, 20, threads, 1000)).toEqual(alone)
  })

  test('of float16 are read as such', async () => {
    const files = [
      await stored('float16', reference, [ROWS, SIZE]),
      await stored('float16', target, [ROWS, SIZE]),
    ] as const
    const rows = await compareLogitTensors(...files, 20)
    expect(rows).toHaveLength(ROWS)
    expect(rows[0]!.full.kl).toBeGreaterThan(1e-4)
    expect(rows[0]!.full.kl).toBeLessThan(1e-2)
  })

  test('of other shapes or of integers, and those in memory, are refused', async () => {
    const file = await stored('float32', reference, [ROWS, SIZE])
    const other = { ...file, shape: [SIZE, ROWS] }
    await expect(compareLogitTensors(file, other, 20)).rejects.toThrow('of the same dtype and shape')
    const memory = memorySource('logits', {
      dtype: 'float32',
      shape: [ROWS, SIZE],
      bytes: new Uint8Array(reference.buffer),
    })
    await expect(compareLogitTensors(memory, memory, 20)).rejects.toThrow('give their rows to compareLogits')
  })
})
