import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import type { LayerSample } from '../thresholds/layer-samples.ts'
import { parseLayerCsvName } from './csv-names.ts'
import { readCsvSamples } from './csv-samples.ts'

const PREFIX = 'm_max-new-tokens-1_batch-size-1_seq-length-0_dtype-float16'

/** Files by layer, call and metric, such as `norm.iter-2.abs_diff`. */
function samplesOf(files: Readonly<Record<string, string>>): Promise<LayerSample[]> {
  const folder = freshFolder()
  mkdirSync(folder, { recursive: true })
  const found = Object.entries(files).map(([name, text]) => {
    const file = `${PREFIX}--${name}.csv`
    const path = join(folder, file)
    writeFileSync(path, text)
    return { ...parseLayerCsvName(file)!, path }
  })
  return readCsvSamples(found)
}

const column = (...lines: readonly (string | number)[]) => lines.map((line) => `${line}\n`).join('')
const size = (shape: readonly number[]) => `torch.Size([${shape.join(', ')}])`
const later = (
  metric: string,
  shape: readonly number[],
  own: readonly number[],
  values: readonly (string | number)[],
) => column(metric, `GPU shape ${size(shape)} CPU shape ${size(shape)}`, `Metric shape ${size(own)}`, ...values)

describe('files of a layer', () => {
  test('with the sign of each element give their agreement', async () => {
    const [sample] = await samplesOf({
      'ln.abs_diff': column('abs_diff', 3, 4, 0, 0),
      'ln.cos_sim': column('cos_sim', 1, -1, 1, 0.0),
    })
    expect(sample).toEqual({
      name: 'ln',
      shape: null,
      metrics: { mean_abs: 1.75, max_abs: 4, l2: 5, rmse: 2.5, sign_agreement: 0.25 },
      squares: { sum: 25, count: 4 },
      signs: { sum: 1, count: 4 },
      rows: { why: 'its cos_sim file holds signs of elements and no cosines' },
    })
  })

  test('with the cosine of each row give those, at most 1, and the shape', async () => {
    const [sample] = await samplesOf({
      'ln.abs_diff': later('abs_diff', [1, 2, 2], [1, 2, 2], [3, 4, 0, 0]),
      'ln.cos_sim': later('cos_sim', [1, 2, 2], [1, 2], [1.0000711, 0.5]),
    })
    expect(sample).toMatchObject({
      shape: [1, 2, 2],
      metrics: { l2: 5, row_cosine: expect.closeTo(0.75003555, 12), least_row_cosine: 0.5 },
      signs: { why: 'its cos_sim file holds cosines of rows and no signs' },
    })
  })

  test('are told apart by their shape where one of the two is gone', async () => {
    const [rows, signs] = await samplesOf({
      'a.cos_sim': later('cos_sim', [2, 2], [2], [1, 0.5]),
      'b.cos_sim': column('cos_sim', 1, -1),
    })
    expect([rows!.metrics, signs!.metrics]).toEqual([
      { row_cosine: 0.75, least_row_cosine: 0.5 },
      { sign_agreement: 0 },
    ])
    expect(rows!.squares).toEqual({ why: 'there is no abs_diff file of it' })
  })

  test('of a row of one element are cosines where the header says so', async () => {
    const files = {
      'a.abs_diff': later('abs_diff', [2, 1], [2, 1], [1, 1]),
      'a.cos_sim': later('cos_sim', [2, 1], [2], [1, 1]),
    }
    expect((await samplesOf(files))[0]!.metrics).toHaveProperty('row_cosine', 1)
  })

  test('of a tuple hold several tensors and no shape of one', async () => {
    const [sample] = await samplesOf({ 'a.abs_diff': later('abs_diff', [2], [2], [1, 1, 1, 1]) })
    expect(sample).toMatchObject({ shape: null, squares: { sum: 4, count: 4 } })
  })

  test('may have a byte order mark and other line ends', async () => {
    const [sample] = await samplesOf({ 'a.abs_diff': '\ufeffabs_diff\r\n1\r\n2\r\n' })
    expect(sample!.squares).toEqual({ sum: 5, count: 2 })
  })

  test('with nothing but zeros measured nothing', async () => {
    const zeros = { 'a.abs_diff': column('abs_diff', 0, 0), 'a.cos_sim': column('cos_sim', 0, 0) }
    const equal = { 'a.abs_diff': column('abs_diff', 0, 0), 'a.cos_sim': column('cos_sim', 1, -1) }
    expect((await samplesOf(zeros))[0]).toMatchObject({
      metrics: {},
      squares: { why: expect.stringContaining('only zeros') },
    })
    expect((await samplesOf(equal))[0]).toMatchObject({ squares: { sum: 0, count: 2 } })
  })
})

test('calls come in the order of layers and steps, whatever the folder’s', async () => {
  const one = column('abs_diff', 1)
  const names = ['b10', 'b2.iter-10', 'b2.iter-9', 'b2', 'a']
  const samples = await samplesOf(
    Object.fromEntries(names.map((name, i) => [`${name}.abs_diff`, column('abs_diff', i)])),
  )
  expect(samples.map(({ name, metrics }) => [name, metrics.max_abs])).toEqual([
    ['a', 4],
    ['b2', 3],
    ['b2', 2],
    ['b2', 1],
    ['b10', 0],
  ])
  expect(await samplesOf({ 'a.abs_diff': one })).toHaveLength(1)
})

describe('numbers that are not finite', () => {
  test('leave nothing to be said of differences and signs', async () => {
    const [sample] = await samplesOf({
      'a.abs_diff': column('abs_diff', 1, 'nan', 'inf'),
      'a.cos_sim': column('cos_sim', 1, 'nan', 1),
    })
    expect(sample).toMatchObject({
      metrics: { mean_abs: null, max_abs: null, l2: null, rmse: null, sign_agreement: null },
      squares: { why: '2 of 3 values of abs_diff are not finite' },
      signs: { why: '1 of 3 values of cos_sim are not finite' },
    })
  })

  test('are rows without a cosine', async () => {
    const rows = (...values: (string | number)[]) => samplesOf({ 'a.cos_sim': later('cos_sim', [2, 2], [2], values) })
    expect((await rows('nan', 0.5))[0]!.metrics).toEqual({ row_cosine: 0.5, least_row_cosine: 0.5 })
    expect((await rows('nan', 'nan'))[0]).toMatchObject({ metrics: { row_cosine: null, least_row_cosine: null } })
  })
})

describe('a file is refused', () => {
  test.each([
    ['that is empty', '', 'is empty'],
    ['without values', 'abs_diff\n', 'has a header and no values'],
    ['of another metric', 'cos_sim\n1\n', ':1: found "cos_sim", expected the header "abs_diff"'],
    ['that is cut within a number', 'abs_diff\n1.25\n0.1', 'ends within line 3: it was cut'],
    [
      'that is cut within its header',
      'abs_diff\nGPU shape torch.Size([2]) CPU shape torch.Size([2])\n',
      'has a header and no values',
    ],
    [
      'with fewer values than it says',
      later('abs_diff', [1, 4], [1, 4], [1, 2, 3]),
      'has 3 values, but its header says (1, 4)',
    ],
    ['with an empty line', 'abs_diff\n1\n\n2\n', ':3: found an empty line, expected a number'],
    ['with text', 'abs_diff\n1,2\n', ':2: found "1,2", expected a number'],
    ['with a negative difference', 'abs_diff\n-1\n', ':2: found "-1", expected an absolute difference'],
    [
      'of sides with two shapes',
      column(
        'abs_diff',
        'GPU shape torch.Size([2]) CPU shape torch.Size([1, 2])',
        'Metric shape torch.Size([2])',
        1,
        1,
      ),
      'the shapes (2) and (1, 2)',
    ],
  ])('%s', async (_, text, problem) => {
    await expect(samplesOf({ 'a.abs_diff': text })).rejects.toThrow(problem)
  })

  test('with a cosine that is none', async () => {
    await expect(samplesOf({ 'a.cos_sim': 'cos_sim\n1.5\n' })).rejects.toThrow(':2: found "1.5", expected a cosine')
  })

  test('that does not go with the other of its layer', async () => {
    const files = { 'a.abs_diff': column('abs_diff', 1, 2, 3), 'a.cos_sim': column('cos_sim', 1, 1) }
    await expect(samplesOf(files)).rejects.toThrow('a.cos_sim.csv has 2 values for 3 elements')
  })
})
