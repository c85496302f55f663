import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { measureSequence } from '../gates/summarise-sequence.ts'
import { keptPair } from '../gates/testing/kept-steps.ts'
import { microDecoder } from '../micro/choices.ts'
import { writeMicroFolder } from '../micro/write-folder.ts'
import { digestModel } from '../model-identity.ts'
import { OnnxExports } from '../onnx-exports.ts'
import { writeMetricFiles } from '../store/metric-files.ts'
import { withModelDigests } from '../store/model-digests.ts'
import { writeSequences } from '../store/sequences-file.ts'
import { readThresholds, writeThresholds } from '../store/thresholds-file.ts'
import { earlierThresholds, replacedText, sortEarlier } from './earlier-thresholds.ts'
import { type LearntThresholds, learnThresholds } from './learn-thresholds.ts'

const root = mkdtempSync(join(tmpdir(), 'assay thresholds '))
afterAll(() => rmSync(root, { recursive: true }))

let folders = 0
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const learn = (folder: string, metrics: readonly ('ce' | 'diff_mean')[] = ['ce'], outputFolder = folder) =>
  learnThresholds({
    cwd: folder,
    environment: {},
    models: [],
    metrics,
    metricsFolder: folder,
    machine: {},
    outputFolder,
  })

const CE = 'm_max-new-tokens-2_batch-size-8_seq-length-64_dtype-fp16.ce.csv'

describe('what would make a wrong threshold is an error', () => {
  test.each([
    ['header only', 'ce\n', `${CE} has a header and no values`],
    ['nothing at all', '', `${CE}:1: found an empty line, expected the header "ce"`],
    ['NaN', 'ce\n1\nNaN\n', `${CE}:3: found "NaN", expected a finite number`],
    ['infinity', 'ce\n-inf\n1', `${CE}:2: found "-inf", expected a finite number`],
    ['an overflow', 'ce\n1e999\n', `${CE}:2: found "1e999"`],
    ['a gap', 'ce\n1\n\n2\n', `${CE}:3: found an empty line`],
    ['no header', '1\n2\n', `${CE}:1: found "1", expected the header "ce"`],
    ['the values of another metric', 'diff_mean\n1\n', `${CE}:1: found "diff_mean"`],
    ['two columns', 'ce\n1,2\n', `${CE}:2: found "1,2"`],
    ['a hexadecimal number', 'ce\n0x10\n', `${CE}:2: found "0x10"`],
  ])('%s', async (_name, text, words) => {
    await expect(learn(folderWith({ [CE]: text }))).rejects.toThrow(words)
  })

  test('no files, no folder to write to', async () => {
    await expect(learn(folderWith({ 'notes.csv': 'ce\n1\n' }))).rejects.toThrow(/^no metric files in /)
    await expect(learn(folderWith({ [CE]: 'ce\n1\n' }), ['ce'], join(root, 'none'))).rejects.toThrow(
      /none is not a folder/,
    )
  })

  test('a shape that lacks one of the metrics, or has another number of tokens there', async () => {
    const folder = folderWith({ [CE]: 'ce\n1\n2\n' })
    await expect(learn(folder, ['ce', 'diff_mean'])).rejects.toThrow(/diff_mean\.csv is not there, only ce;/)
    writeFileSync(join(folder, CE.replace('.ce.', '.diff_mean.')), 'diff_mean\n1\n')
    await expect(learn(folder, ['ce', 'diff_mean'])).rejects.toThrow(/2 tokens in .* and 1 in .* different runs/)
    expect((await learn(folder, ['ce']))[0]).toMatchObject({ model: 'm', files: 1 })
  })
})

test('all files of exactly each model are pooled, and each shape keeps its own', async () => {
  const of = (model: string, length: string, metric: string) =>
    `${model}_max-new-tokens-2_batch-size-8_seq-length${length}_dtype-fp16.${metric}.csv`
  const folder = folderWith({
    [of('org--m', '-64', 'ce')]: 'ce\n1\n2\n',
    [of('org--m', '128', 'ce')]: 'ce\r\n3\r\n4\r\n',
    [of('org--m-big', '-64', 'ce')]: 'ce\n100\n200\n',
  })
  const models = ['org/m', 'org/m-big']
  const request = {
    cwd: '/',
    environment: {},
    models,
    metrics: ['ce'] as const,
    metricsFolder: folder,
    machine: {},
    outputFolder: folder,
  }
  const learnt = await learnThresholds(request)
  expect(learnt.map(({ model, files, thresholds }) => [model, files, thresholds.metrics.ce!.value])).toEqual([
    ['org--m', 2, 3.9699999999999998],
    ['org--m-big', 1, 199],
  ])
  const [{ thresholds }] = learnt as [(typeof learnt)[0]]
  expect(thresholds.metrics.ce).toMatchObject({ statistic: 'p99', count: 4, interval: { low: 3, high: null } })
  expect(thresholds.shapes.map(({ metrics, sequences }) => [metrics.ce!.value, sequences])).toEqual([
    [1.99, null],
    [3.99, null],
  ])
  const mistyped = { ...request, models: ['org/n-big'] }
  await expect(learnThresholds(mistyped)).rejects.toThrow('unknown model "org/n-big"')
  await expect(learnThresholds(mistyped)).rejects.toThrow('did you mean "org--m-big"?')
})

describe('an earlier thresholds file', () => {
  const DIFF = CE.replace('.ce.', '.diff_mean.')
  const both = () => folderWith({ [CE]: 'ce\n1\n2\n', [DIFF]: 'diff_mean\n3\n4\n' })
  const path = (folder: string) => join(folder, 'm-thresholds.json')

  test('keeps its other metrics, of the same measurement as those that are learnt anew', async () => {
    const folder = both()
    const [first] = await learn(folder, ['ce', 'diff_mean'])
    expect(first).toMatchObject({ kept: [], replaced: null })
    const [again] = await learn(folder, ['ce'])
    expect(again).toMatchObject({ kept: ['diff_mean'], replaced: null })
    expect(again!.thresholds.metrics).toEqual(first!.thresholds.metrics)
    expect((await readThresholds(path(folder))).metrics).toEqual(first!.thresholds.metrics)
    writeFileSync(join(folder, CE), 'ce\n5\n6\n')
    writeFileSync(join(folder, DIFF), 'diff_mean\n7\n8\n')
    const [{ thresholds }] = (await learn(folder, ['ce'])) as [LearntThresholds]
    expect([thresholds.metrics.ce!.value, thresholds.metrics.diff_mean!.value]).toEqual([5.99, 7.99])
  })

  test('loses a metric whose files are gone, and says so', async () => {
    const folder = both()
    await learn(folder, ['ce', 'diff_mean'])
    rmSync(join(folder, DIFF))
    const [learnt] = await learn(folder, ['ce'])
    expect(Object.keys(learnt!.thresholds.metrics)).toEqual(['ce'])
    expect(learnt).toMatchObject({
      kept: [],
      replaced: 'diff_mean in m-thresholds.json is not kept: a shape no longer has a metric file for it',
    })
  })

  test.each([
    ['of another baseline', { baseline: 'torch:cpu' }, 'it was learnt with the baseline torch:cpu; diff_mean of it'],
    [
      'of other weights',
      { digests: { 'model.safetensors': 'before' } },
      'it was learnt from another model of this name (model.safetensors differs); diff_mean of it is gone',
    ],
  ])('%s is replaced, and that is said', async (_what, other, words) => {
    const folder = both()
    const [first] = await learn(folder, ['ce', 'diff_mean'])
    const origin = { baseline: 'ort:cpu', digests: { 'model.safetensors': 'after' } }
    const next = { ...first!.thresholds, ...origin }
    await writeThresholds(folder, { ...next, ...other })
    const earlier = await earlierThresholds(folder, next)
    expect(replacedText(earlier, sortEarlier(earlier, 'm', [], ['ce']).lost)).toContain(`is replaced: ${words}`)
  })

  test('of somebody else is replaced, and that is said', async () => {
    const folder = both()
    writeFileSync(path(folder), '{ "model_id": "m", "ce": 2.8 }')
    expect((await learn(folder))[0]).toMatchObject({
      kept: [],
      replaced: 'm-thresholds.json is replaced: it was not a thresholds file of assay',
    })
  })
})

describe('sequences beside metric files', () => {
  const logits = [[3, 2, 1]]
  const { summary } = measureSequence({ prompt: 'p', ...keptPair(logits, logits, 2), eos: [] })
  const rest = { reference: 'r', versions: {}, dataset: 'bundled', topK: 2, created: 'now' }

  interface Of {
    readonly model?: string
    readonly digests?: Record<string, string>
  }
  const write = async (folder: string, batchSize: number, baseline: string, kept: number, of: Of = {}) => {
    const { model = 'm', digests = {} } = of
    const shape = { newTokens: 2, batchSize, promptLength: 64, dtype: 'fp16' }
    const values = { ce: [1, 2], diff_mean: [1, 2], prob_mean: [1, 2], prob_std: [1, 2] }
    await writeMetricFiles(folder, model, shape, values)
    await writeSequences(folder, { model, digests, baseline, shape, sequences: [{ ...summary, kept }], ...rest })
  }

  test('give the thresholds their origin, and their names are kept', async () => {
    const folder = folderWith({})
    for (const batchSize of [1, 8]) await write(folder, batchSize, 'torch:cpu', 2)
    const [learnt] = await learn(folder)
    expect(learnt!.thresholds).toMatchObject({ reference: 'r', baseline: 'torch:cpu', dataset: 'bundled' })
    expect(learnt!.thresholds.shapes.map(({ sequences }) => sequences)).toEqual(
      [1, 8].map((batch) => `m_max-new-tokens-2_batch-size-${batch}_seq-length-64_dtype-fp16.sequences.json`),
    )
  })

  test('of two baselines are not pooled', async () => {
    const folder = folderWith({})
    await write(folder, 1, 'one', 2)
    await write(folder, 8, 'other', 2)
    await expect(learn(folder)).rejects.toThrow('shapes were measured with the baseline "one" and "other"')
  })

  test('of another run are refused', async () => {
    const folder = folderWith({})
    await write(folder, 1, 'one', 3)
    await expect(learn(folder)).rejects.toThrow(/2 tokens in .* and 3 in its sequences\.json/)
  })

  test('of one model under two spellings of its path are pooled, and say what it is', async () => {
    const folder = folderWith({})
    await write(folder, 1, 'one', 2, { model: './m', digests: { 'model/config.json': 'c', tokenizer: 't' } })
    await write(folder, 8, 'one', 2, { model: 'm/', digests: { 'model/model.safetensors': 'w', tokenizer: 't' } })
    const [learnt] = await learn(folder)
    expect(learnt!.thresholds.digests).toEqual({ 'config.json': 'c', 'model.safetensors': 'w' })
    expect(learnt!.files).toBe(2)
  })

  test('of a model that changed under its name are not pooled', async () => {
    const folder = folderWith({})
    for (const [batch, digest] of [
      [1, 'before'],
      [8, 'after'],
    ] as const)
      await write(folder, batch, 'one', 2, { digests: { 'model/model.safetensors': digest } })
    await expect(learn(folder)).rejects.toThrow(
      'shapes were measured with different models named "m", on now and on now: model.safetensors differs',
    )
  })

  test('tell which files are of a folder that was called otherwise when it was measured', async () => {
    const folder = folderWith({})
    const sizes = { weightDType: 'float32', graphDTypes: ['float32'], force: false } as const
    const config = microDecoder('llama', { layers: 1, hidden: 8, heads: 2, positions: 128 })
    for (const [name, seed] of [
      ['here', 1],
      ['other', 2],
    ] as const)
      await writeMicroFolder({ folder: join(folder, name), config, seed, ...sizes })
    const digests = withModelDigests(await digestModel(join(folder, 'here'), new OnnxExports()))
    await write(folder, 1, 'one', 2, { model: '/gpu/m-v1', digests })
    await write(folder, 1, 'one', 2, { model: '/gpu/m-v2', digests: { 'model/model.safetensors': 'other' } })
    const paths = { metricsFolder: '.', outputFolder: '.' }
    const request = { cwd: folder, environment: {}, metrics: ['ce'], machine: {}, ...paths } as const
    const [learnt] = await learnThresholds({ ...request, models: ['./here'] })
    expect(learnt).toMatchObject({ model: '--gpu--m-v1', thresholds: { model: '/gpu/m-v1' } })
    await expect(learnThresholds({ ...request, models: ['other'] })).rejects.toThrow('unknown model "other" in .')
    await write(folder, 1, 'one', 2, { model: '/gpu/again', digests })
    await expect(learnThresholds({ ...request, models: ['here'] })).rejects.toThrow(
      '--gpu--again and --gpu--m-v1 in . are both for here; name one of them with --model',
    )
  })
})
