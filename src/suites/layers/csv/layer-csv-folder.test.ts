import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PaddingMask } from '../../../compare/layers/real-positions.ts'
import type { DType } from '../../../domain/dtype.ts'
import type { Side } from '../../../domain/verdict.ts'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { PairedStreams } from '../paired-streams.ts'
import { parseLayerCsvName } from './csv-names.ts'
import { readCsvSamples } from './csv-samples.ts'
import { LayerCsvFolder } from './layer-csv-folder.ts'
import { boundFiles } from './layer-csv-writer.ts'

const PREFIX = 'org--m_max-new-tokens-2_batch-size-1_seq-length-3_dtype-bfloat16'
const golden = JSON.parse(readFileSync('test/fixtures/layer-csv/layers-golden.json', 'utf8'))

interface Given {
  readonly name: string
  readonly shape: readonly number[]
  readonly reference: readonly number[]
  readonly target: readonly number[]
  readonly dtype?: DType
}

function newFolder(): string {
  const folder = freshFolder()
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Both sides give the tensors of a step, the reference in small chunks. */
async function give(csv: LayerCsvFolder, step: number, tensors: readonly Given[], mask: PaddingMask | null = null) {
  const streams = new PairedStreams({ mask, elements: csv.sinkOf(step) })
  const run = async (side: Side, atOnce: number) => {
    for (const { name, shape, dtype = 'float32', [side]: values } of tensors) {
      const bytes = encodeNumbers(dtype, values)
      for (let offset = 0; offset === 0 || offset < bytes.length; offset += atOnce) {
        const part = bytes.subarray(offset, offset + atOnce)
        await streams.take(side, { name, dtype, shape, offset, last: offset + atOnce >= bytes.length, bytes: part })
      }
    }
    streams.end(side)
  }
  await Promise.all([run('reference', 8), run('target', 1024)])
}

const read = (folder: string, name: string) => readFileSync(join(folder, `${PREFIX}--${name}.csv`), 'utf8').split('\n')
const csvFiles = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.csv'))

function samplesIn(folder: string) {
  const files = csvFiles(folder).map((name) => ({ ...parseLayerCsvName(name)!, path: join(folder, name) }))
  return readCsvSamples(files)
}

const NORM: Given = {
  name: 'norm',
  shape: [1, 3, 3],
  reference: golden.reference.flat(2),
  target: golden.test.flat(2),
}
const ONE: Given = { name: 'norm', shape: [1, 1, 2], reference: [3, 4], target: [3, 4.5] }

test('files have a line for each element and for each row, and give the golden numbers when they are read', async () => {
  const folder = newFolder()
  const csv = new LayerCsvFolder(folder, PREFIX)
  csv.start()
  await give(csv, 0, [NORM])
  expect(csv.finish()).toEqual({ written: 2, kept: 0 })
  expect(readdirSync(folder).sort()).toEqual(csvFiles(folder).sort())
  const sizes = 'GPU shape torch.Size([1, 3, 3]) CPU shape torch.Size([1, 3, 3])'
  expect(read(folder, 'norm.abs_diff')).toEqual([
    'abs_diff',
    sizes,
    'Metric shape torch.Size([1, 3, 3])',
    ...golden.abs_diff.map(String),
    '',
  ])
  const [, , own, ...cosines] = read(folder, 'norm.cos_sim')
  expect(own).toBe('Metric shape torch.Size([1, 3])')
  const expected = golden.cos_sim_per_row_no_zero_fill.map((cosine: number) => expect.closeTo(cosine, 6))
  expect(cosines.slice(0, -1).map(Number)).toEqual(expected)
  const [sample] = await samplesIn(folder)
  expect(sample!.metrics).toMatchObject({
    l2: expect.closeTo(golden.abs_diff_l2_norm, 12),
    mean_abs: expect.closeTo(golden.mean_abs_diff, 12),
    row_cosine: expect.closeTo(golden.cos_sim_avg, 6),
  })
  expect(sample!.shape).toEqual([1, 3, 3])
})

test('later steps have their number, and are joined in order', async () => {
  const folder = newFolder()
  const csv = new LayerCsvFolder(folder, PREFIX)
  csv.start()
  await give(csv, 0, [NORM])
  for (let step = 1; step <= 10; step++) await give(csv, step, [{ ...ONE, target: [3, 4 + step] }])
  csv.finish()
  const samples = await samplesIn(folder)
  expect(samples.map(({ metrics }) => metrics.max_abs)).toEqual([2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('rows without a direction and numbers that are not finite are nan', async () => {
  const folder = newFolder()
  const csv = new LayerCsvFolder(folder, PREFIX)
  csv.start()
  const nan = Number.NaN
  const given = { name: 'x', shape: [3, 2], reference: [0, 0, 1, nan, 1, 0], target: [0, 0, 1, 1, Infinity, 0] }
  await give(csv, 0, [given])
  csv.finish()
  expect(read(folder, 'x.abs_diff').slice(3, -1)).toEqual(['0', '0', '0', 'nan', 'inf', '0'])
  expect(read(folder, 'x.cos_sim').slice(3, -1)).toEqual(['nan', 'nan', 'nan'])
})

test('padded positions are in no file, and half a row has no cosine', async () => {
  const folder = newFolder()
  const csv = new LayerCsvFolder(folder, PREFIX)
  csv.start()
  const hidden = { name: 'hidden', shape: [1, 3, 2], reference: [9, 9, 1, 0, 1, 0], target: [0, 0, 1, 0, 0, 1] }
  const ids = { name: 'ids', shape: [1, 3], reference: [9, 1, 2], target: [0, 1, 3] }
  await give(csv, 0, [hidden, ids], [[0, 1, 1]])
  csv.finish()
  expect(read(folder, 'hidden.abs_diff').slice(2, -1)).toEqual(['Metric shape torch.Size([4])', '0', '0', '1', '1'])
  expect(read(folder, 'hidden.cos_sim').slice(2, -1)).toEqual(['Metric shape torch.Size([2])', '1', '0'])
  expect(csvFiles(folder).filter((name) => name.includes('ids'))).toEqual([`${PREFIX}--ids.abs_diff.csv`])
  expect((await samplesIn(folder))[0]).toMatchObject({ shape: [1, 3, 2], metrics: { row_cosine: 0.5 } })
})

test('empty tensors and single numbers have files that are read', async () => {
  const folder = newFolder()
  const csv = new LayerCsvFolder(folder, PREFIX)
  csv.start()
  await give(csv, 0, [
    { name: 'empty', shape: [0, 4], reference: [], target: [] },
    { name: 'loss', shape: [], reference: [2], target: [-2] },
  ])
  csv.finish()
  expect((await samplesIn(folder)).map(({ name, shape, metrics }) => [name, shape, metrics.max_abs])).toEqual([
    ['empty', [0, 4], null],
    ['loss', [], 4],
  ])
})

test('complex numbers have no files', async () => {
  const csv = new LayerCsvFolder(newFolder(), PREFIX)
  csv.start()
  await give(csv, 0, [{ ...ONE, dtype: 'complex64', shape: [1] }])
  expect(csv.finish()).toEqual({ written: 0, kept: 0 })
})

describe('what is there', () => {
  test('is never written over', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, `${PREFIX}--norm.abs_diff.csv`), 'of somebody else')
    const csv = new LayerCsvFolder(folder, PREFIX)
    csv.start()
    await give(csv, 0, [ONE])
    expect(csv.finish()).toEqual({ written: 1, kept: 1 })
    expect(read(folder, 'norm.abs_diff')).toEqual(['of somebody else'])
  })

  test('of an attempt that failed is gone, also within a tensor', async () => {
    const folder = newFolder()
    const csv = new LayerCsvFolder(folder, PREFIX)
    csv.start()
    await give(csv, 0, [{ ...ONE, name: 'first' }])
    csv
      .sinkOf(0)
      .begin({ name: 'half', dtype: 'float32', shape: [4] }, { name: 'half', dtype: 'float32', shape: [4] }, 4)
    csv.start()
    await give(csv, 0, [ONE])
    expect(csv.finish()).toEqual({ written: 2, kept: 0 })
    expect(csvFiles(folder).every((name) => name.includes('--norm.'))).toBe(true)
    csv.start()
    csv.remove()
    expect(readdirSync(folder)).toHaveLength(2)
  })

  test('as a file of the folder’s name is refused', () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'file'), '')
    const csv = new LayerCsvFolder(join(folder, 'file'), PREFIX)
    expect(() => csv.start()).toThrow('is a file where a folder was expected')
  })
})

test('a name that no file system takes is refused', async () => {
  const csv = new LayerCsvFolder(newFolder(), PREFIX)
  csv.start()
  const name = 'a'.repeat(200)
  await expect(give(csv, 0, [{ ...ONE, name }])).rejects.toThrow('would have a name of')
})

test('files are never larger than was said before', async () => {
  const folder = newFolder()
  const csv = new LayerCsvFolder(folder, PREFIX)
  csv.start()
  const shape = [8, 2]
  const reference = Array.from({ length: 16 }, (_, i) => (i % 3 === 0 ? -1 : 1) * 1.2345678901234567e-6 * (1 + i / 7))
  await give(csv, 0, [{ name: 'x', shape, dtype: 'float64', reference, target: reference.map((x) => -x * 1.1) }])
  csv.finish()
  const { files, bytes } = boundFiles(shape, 1)
  const written = csvFiles(folder).map((name) => readFileSync(join(folder, name)).length)
  expect(written).toHaveLength(files)
  expect(written[0]! + written[1]!).toBeLessThanOrEqual(bytes)
})
