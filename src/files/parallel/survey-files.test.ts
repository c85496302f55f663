import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { withElements } from '../../compare/diff/element-reader.ts'
import { surveyPair } from '../../compare/diff/survey.ts'
import { normal, tensor } from '../../compare/diff/testing/tensors.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { loadBytes } from '../../tensors/tensor-bytes.ts'
import { openNpy, writeNpy } from '../formats/npy.ts'
import { surveyFiles } from './survey-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay survey '))
afterAll(() => rmSync(folder, { recursive: true }))

async function stored(name: string, source: TensorSource): Promise<TensorSource> {
  await writeNpy(join(folder, name), source)
  return openNpy(join(folder, name))
}

test('threads find what one pass finds', async () => {
  const numbers = normal(3 * 7 * 501)
  const odd = numbers.map((value, i) => (i % 1000 === 7 ? Number.NaN : i % 13 === 0 ? value + 1e-3 : value))
  const reference = await stored('r.npy', tensor([3, 7, 501], numbers))
  const target = await stored('t.npy', tensor([3, 7, 501], odd))
  const shared = (await surveyFiles(reference, target, 3, 100))!
  const alone = await withElements(reference, target, loadBytes, surveyPair)
  expect(shared.histogram).toEqual(alone.histogram)
  expect({ ...shared.nonFinite, axes: [] }).toEqual({ ...alone.nonFinite, axes: [] })
  expect(shared.nonFinite.axes).toEqual(alone.nonFinite.axes)
  expect(shared.target).toMatchObject({
    count: 10521,
    finite: 10510,
    nan: 11,
    min: alone.target.min,
    max: alone.target.max,
  })
  expect(shared.target.std).toBeCloseTo(alone.target.std!, 12)
  expect(shared.sums.dd).toBeCloseTo(alone.sums.dd, 12)
  for (const [i, { sums }] of shared.axes.entries()) {
    for (const [bin, sum] of sums.entries()) expect(sum).toBeCloseTo(alone.axes[i]!.sums[bin]!, 12)
  }
})

test('tensors that are not in files are left alone', () => {
  expect(surveyFiles(tensor([2], [1, 2]), tensor([2], [1, 2]))).toBeNull()
})
