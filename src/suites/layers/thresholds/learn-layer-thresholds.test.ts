import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { type LayerRow, type LayersFile, writeLayersFile } from '../layers-file.ts'
import { readLayerThresholds } from './layer-thresholds.ts'
import { type LayerThresholdsRequest, learnLayerThresholds } from './learn-layer-thresholds.ts'

const METRICS = {
  ...{ mean_abs: 0.5, max_abs: 1, l2: 3, rmse: 0.75, rel_l2: 0.1, snr_db: 20, cosine: 0.99, row_cosine: 0.98 },
  ...{ least_row_cosine: 0.9, zero_rows: 0, sign_agreement: 0.5 },
  ...{ nonfinite_reference: 0, nonfinite_target: 0, nonfinite_mismatch: 0 },
}
const ROW: LayerRow = {
  name: 'norm',
  step: 0,
  shape: [1, 4, 2],
  reference: 'float32',
  target: 'bfloat16',
  count: 8,
  metrics: METRICS,
}

function row(more: Partial<Omit<LayerRow, 'metrics'>> & { readonly metrics?: Partial<LayerRow['metrics']> }): LayerRow {
  return { ...ROW, ...more, metrics: { ...METRICS, ...(more.metrics as LayerRow['metrics']) } }
}

const HEAD = { model: 'org/m', mode: 'generate', reference: 'torch:cpu', target: 'torch:cpu,dtype=bf16' }

/** Learns from files of layers in a folder. */
async function learn(
  files: Readonly<Record<string, Partial<LayersFile>>>,
  more: Partial<LayerThresholdsRequest> = {},
  folder = freshFolder(),
) {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    await writeLayersFile(join(folder, name), { ...HEAD, layers: [ROW], ...content })
  }
  const request = { cwd: folder, runsFolder: join(folder, '.assay/runs'), models: [], metrics: ['abs_diff', 'cos_sim'] }
  const places = { metricsFolder: '.', outputFolder: undefined, documented: false, machine: { node: 'v' } }
  return learnLayerThresholds({ ...request, ...places, ...more })
}

const only = async (...layers: readonly LayerRow[]) => (await learn({ 'layers.json': { layers: [...layers] } }))[0]!

describe('limits', () => {
  test('are the tail on the bad side of each metric, for each shape', async () => {
    const steps = [0, 1, 2, 3].map((step) =>
      row({ step, shape: [1, step === 0 ? 4 : 1, 2], metrics: { rel_l2: step / 10, row_cosine: 1 - step / 10 } }),
    )
    const { thresholds, paths } = await only(...steps)
    expect(thresholds).toMatchObject({
      model: 'org/m',
      mode: 'generate',
      reference: 'torch:cpu',
      baseline: 'torch:cpu,dtype=bf16',
      environment: { node: 'v' },
    })
    const [prompt, token] = thresholds.layers
    expect([prompt!.shape, token!.shape]).toEqual([
      [1, 4, 2],
      [1, 1, 2],
    ])
    expect(token!.metrics.rel_l2).toEqual({
      direction: 'lower',
      value: expect.closeTo(0.298, 12),
      statistic: 'p99',
      count: 3,
    })
    expect(token!.metrics.row_cosine).toEqual({
      direction: 'higher',
      value: expect.closeTo(0.702, 12),
      statistic: 'p1',
      count: 3,
    })
    expect(await readLayerThresholds(paths[0]!)).toEqual(thresholds)
  })

  test('are kept apart by call and element', async () => {
    const names = ['attn', 'attn@1', 'attn#0', 'attn#key']
    const { thresholds } = await only(...names.map((name) => row({ name })))
    expect(thresholds.layers.map(({ name }) => name)).toEqual(names)
  })

  test('are no infinities and nothing that was not measured', async () => {
    const { thresholds } = await only(row({ metrics: { rel_l2: Infinity, snr_db: -Infinity, row_cosine: null } }))
    const [{ metrics, unlimited }] = thresholds.layers as [(typeof thresholds.layers)[0]]
    expect(Object.keys(metrics)).not.toContain('rel_l2')
    expect(unlimited).toEqual({
      rel_l2: 'infinite, which cannot be a limit',
      snr_db: 'minus infinite, which cannot be a limit',
      row_cosine: 'not measured',
    })
  })

  test('are not learnt where one side alone gave NaN', async () => {
    const broken = row({ step: 1, metrics: { rel_l2: 9, nonfinite_target: 1, nonfinite_mismatch: 1 } })
    const [both] = (await only(ROW, broken)).thresholds.layers
    expect([both!.metrics.rel_l2, both!.metrics.nonfinite_mismatch!.count]).toMatchObject([{ value: 0.1, count: 1 }, 2])
    const [alone] = (await only(broken)).thresholds.layers
    expect(alone!.metrics).not.toHaveProperty('rel_l2')
    expect(alone!.unlimited).toMatchObject({ rel_l2: 'not measured', row_cosine: 'not measured' })
  })

  test('are not learnt from NaN', async () => {
    const { thresholds } = await only(row({ metrics: { rmse: Number.NaN } }), row({ step: 1 }))
    expect(thresholds.layers[0]!.unlimited).toEqual({ rmse: 'NaN, which cannot be a limit' })
  })
})

describe('documented numbers', () => {
  const values = async (...layers: readonly LayerRow[]) =>
    (await only(...layers)).documented.map(({ values }) => values)

  test('are over all steps: the root of the squares, and signs weighed by their number', async () => {
    const [of] = await values(
      row({ metrics: { l2: 3, sign_agreement: 1, row_cosine: 1 }, count: 8 }),
      row({ step: 1, shape: [1, 1, 2], metrics: { l2: 4, sign_agreement: 0, row_cosine: 0.5 }, count: 2 }),
    )
    expect(of).toEqual({
      abs_diff: 5,
      cos_sim: 0.8,
      cos_sim_avg: expect.closeTo(0.9, 12),
      cos_sim_mean: expect.closeTo(0.9, 12),
    })
  })

  test.each<[string, Partial<LayerRow>, string]>([
    [
      'one side alone computes it',
      { problem: 'only the reference computes it', metrics: {} },
      'only the reference computes it',
    ],
    [
      'a value is NaN on one side',
      { metrics: { ...METRICS, nonfinite_mismatch: 2 } },
      '2 values are not finite on one side alone',
    ],
    ['no value is finite', { metrics: { ...METRICS, l2: null } }, 'l2 was not measured'],
    ['it has no values', { count: 0, shape: [0, 4], metrics: {} }, 'there are no values'],
  ])('are not measured where %s', async (_, more, why) => {
    expect((await values({ ...ROW, ...more }))[0]!.abs_diff).toEqual({ why })
  })

  test('leave out a call without values', async () => {
    const empty = { ...ROW, shape: [0, 2], count: 0, metrics: {} }
    expect((await values(empty, row({ step: 1, metrics: { l2: 4 } })))[0]!.abs_diff).toBe(4)
  })

  test('take infinities of both sides for equal', async () => {
    const metrics = { nonfinite_reference: 4, nonfinite_target: 4, sign_agreement: 1 }
    expect((await values(row({ metrics })))[0]).toMatchObject({ abs_diff: 3, cos_sim: 1 })
  })
})

describe('models', () => {
  const two = { 'a.layers.json': { model: 'org/m' }, 'b.layers.json': { model: 'org/m-big', layers: [ROW, ROW] } }

  test('are all of a folder, or exactly those that were asked for', async () => {
    expect((await learn(two)).map(({ model }) => model)).toEqual(['org--m', 'org--m-big'])
    const [asked] = await learn(two, { models: ['org/m'] })
    expect(asked).toMatchObject({
      model: 'org--m',
      files: 1,
      thresholds: { layers: [{ metrics: { l2: { count: 1 } } }] },
    })
    await expect(learn(two, { models: ['org/n'] })).rejects.toThrow(
      'unknown model "org/n" in .; did you mean "org--m"?',
    )
  })

  test('are known by the end of their path', async () => {
    expect((await learn(two, { models: ['/models/org/m-big/'] }))[0]!.model).toBe('org--m-big')
  })

  test('of two baselines are not mixed', async () => {
    const files = { 'a.layers.json': {}, 'b.layers.json': { target: 'torch:cpu,dtype=fp16' } }
    await expect(learn(files)).rejects.toThrow(
      'the target of a.layers.json is torch:cpu,dtype=bf16, and of b.layers.json torch:cpu,dtype=fp16; give one of the files',
    )
  })

  test('whose runs have different layers say which', async () => {
    const files = { 'a.layers.json': { layers: [ROW, row({ name: 'head' })] }, 'b.layers.json': {} }
    const [learnt] = await learn(files)
    expect(learnt!.notes).toEqual(['b.layers.json has 1 of 2 layers; head is missing'])
    expect(learnt!.thresholds.layers.map(({ metrics }) => metrics.l2!.count)).toEqual([2, 1])
  })
})

describe('the documented file', () => {
  test('has a number for each layer, and null for what was not measured', async () => {
    const lone = { ...ROW, name: 'lone', problem: 'alone', metrics: {} }
    const [learnt] = await learn({ 'layers.json': { layers: [ROW, lone] } }, { documented: true })
    expect(JSON.parse(readFileSync(learnt!.paths[1]!, 'utf8'))).toEqual({
      model_id: 'org--m',
      abs_diff: { norm: 3, lone: null },
      cos_sim: { norm: 0.5, lone: null },
    })
  })

  test('replaces its own and no thresholds of a whole model', async () => {
    const folder = freshFolder()
    await learn({ 'layers.json': {} }, { documented: true }, folder)
    await learn({}, { documented: true, metricsFolder: 'layers.json' }, folder)
    writeFileSync(join(folder, 'org--m-thresholds.json'), '{"schema":"assay/thresholds@1"}')
    await expect(learn({}, { documented: true, metricsFolder: 'layers.json' }, folder)).rejects.toThrow(
      'org--m-thresholds.json is another file, such as thresholds of whole models; give another --output',
    )
  })
})

describe('places', () => {
  test('are searched one folder deep if they have no files of their own', async () => {
    const folder = freshFolder()
    await learn({ 'layers.json': {} }, {}, join(folder, 'granite'))
    const [learnt] = await learn({}, {}, folder)
    expect(learnt).toMatchObject({ place: 'folders of .', paths: [join(folder, 'org--m-layer-thresholds.json')] })
  })

  test.each([
    ['.', 'no metrics of layers in .; files are named <model>_max-new-tokens-N'],
    ['gone', 'there is no folder gone'],
    [undefined, 'no run has measured layers yet; assay layers makes one'],
  ])('without files are refused: %s', async (metricsFolder, problem) => {
    await expect(learn({}, { metricsFolder })).rejects.toThrow(problem)
  })

  test('to write to must be there', async () => {
    await expect(learn({ 'layers.json': {} }, { outputFolder: 'out' })).rejects.toThrow(
      'out is not a folder; create it',
    )
  })

  test('that are a file of another kind are refused', async () => {
    const folder = freshFolder()
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'layers.json'), '{}')
    await expect(learn({}, { metricsFolder: 'layers.json' }, folder)).rejects.toThrow('has no schema')
  })
})
