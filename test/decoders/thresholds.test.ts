import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SequenceSummary } from '../../src/suites/decoders/gates/contract.ts'
import { writeMetricFiles } from '../../src/suites/decoders/store/metric-files.ts'
import { writeSequences } from '../../src/suites/decoders/store/sequences-file.ts'
import { readThresholds } from '../../src/suites/decoders/store/thresholds-file.ts'
import { assay, temporaryFolder } from '../support/assay.ts'

const SHAPE = { newTokens: 128, batchSize: 8, promptLength: 64, dtype: 'fp16' }
const NAME = 'max-new-tokens-128_batch-size-8_seq-length'

const column = (metric: string, values: readonly (number | string)[]) => `${[metric, ...values].join('\n')}\n`
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('thresholds')
  mkdirSync(join(folder, 'metrics'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'metrics', name), text)
  return folder
}

describe('the documented command', () => {
  const folder = folderWith({
    [`org--m_${NAME}-64_dtype-fp16.ce.csv`]: column('ce', [1, 2]),
    [`org--m_${NAME}64_dtype-fp16.ce.csv`]: column('ce', [3, 4]).replaceAll('\n', '\r\n'),
    [`org--m_${NAME}-64_dtype-fp16.diff_mean.csv`]: column('diff_mean', [0.1, 0.5]),
    [`org--m_${NAME}64_dtype-fp16.diff_mean.csv`]: column('diff_mean', ['2e-1', 0.9]),
    [`org--m-big_${NAME}-64_dtype-fp16.ce.csv`]: column('ce', [100, 200]),
    [`org--m-big_${NAME}-64_dtype-fp16.diff_mean.csv`]: column('diff_mean', [100, 200]),
    'notes.csv': 'of somebody else\n',
  })
  const models = ['thresholds', '--models', 'org/m', 'org/m-big', '--metrics', 'diff_mean', 'ce']

  test('pools all files of exactly each model and prints the documented lines', async () => {
    const { code, stdout, stderr } = await assay([...models, '--file_base', 'metrics'], folder)
    expect(code, stderr).toBe(0)
    expect(stdout).toBe(
      [
        'found 2 metric files',
        'org--m diff_mean 0.8879999999999999',
        'found 2 metric files',
        'org--m ce 3.9699999999999998',
        'found 1 metric files',
        'org--m-big diff_mean 199',
        'found 1 metric files',
        'org--m-big ce 199',
        '',
      ].join('\n'),
    )
    expect(stderr).toContain('--models is written --model here')
    expect(stderr).toContain('--file_base is written --metrics-dir here')
    expect(stderr).toContain('wrote metrics/org--m-thresholds.json')
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('writes a file with where each threshold comes from', async () => {
    mkdirSync(join(folder, 'out'), { recursive: true })
    const { code } = await assay(['thresholds', 'org/m', '--output_path', 'out'], folder)
    expect(code).toBe(0)
    const written = await readThresholds(join(folder, 'out/org--m-thresholds.json'))
    expect(written).toMatchObject({ model: 'org/m', reference: null, baseline: null, dataset: null })
    expect(written.metrics.ce).toEqual({
      direction: 'lower',
      value: 3.9699999999999998,
      statistic: 'p99',
      count: 4,
      interval: { low: 3, high: null, confidence: 0.95 },
    })
    expect(written.shapes).toHaveLength(2)
    expect(written.shapes.map(({ metrics }) => metrics.ce!.value)).toEqual([1.99, 3.99])
    expect(written.shapes[0]).toMatchObject({ ...SHAPE, sequences: null })
  })

  test('of one metric leaves the other in the file, and says so', async () => {
    mkdirSync(join(folder, 'two'))
    const both = ['thresholds', 'org/m', '--output', 'two']
    expect((await assay(both, folder)).code).toBe(0)
    const ran = await assay([...both, '--metrics', 'ce'], folder)
    expect(ran.stdout).toBe('found 2 metric files\norg--m ce 3.9699999999999998\n')
    expect(ran.stderr).toContain('note: also learnt diff_mean again, which the earlier file had\n')
    const written = await readThresholds(join(folder, 'two/org--m-thresholds.json'))
    expect(Object.keys(written.metrics)).toEqual(['ce', 'diff_mean'])
  })

  test('--json is all of it and nothing else', async () => {
    const { stdout } = await assay(['thresholds', 'org/m', '--json'], folder)
    const { schema, learnt } = JSON.parse(stdout) as { schema: string; learnt: { model: string; files: number }[] }
    expect([schema, learnt.length]).toEqual(['assay/learnt-thresholds@1', 1])
    expect(learnt[0]).toMatchObject({ model: 'org--m', files: 2 })
  })

  test('without a model it takes all, a mistyped one is none', async () => {
    const all = await assay(['thresholds'], folder)
    expect(all.stdout.match(/^org--m(-big)? /gm)).toHaveLength(4)
    const { code, stdout, stderr } = await assay(['thresholds', 'org/n-big'], folder)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain('unknown model "org/n-big" in metrics; did you mean "org--m-big"?')
  })
})

describe('what would make a wrong threshold is an error', () => {
  const ce = `m_${NAME}-64_dtype-fp16.ce.csv`
  test.each([
    [['--metrics', 'ce'], [1, 'nan'], `metrics/${ce}:3: found "nan", expected a finite number; find out why`],
    [
      ['--metrics', 'ce'],
      ['\u001b[2Jx'],
      `metrics/${ce}:2: found "\\x1b[2Jx", expected a finite number; measure again`,
    ],
    [['--metrics', 'cee'], [1], 'unknown metric "cee"; did you mean "ce"?'],
    [['--metrics', 'ce', 'org/m'], [1], 'known: ce, diff_mean, prob_mean, prob_std; put models before --metrics'],
    [['--metrics-dir', 'metric'], [1], 'metric is not a folder of metric files; did you mean metrics?'],
    [['--layers'], [1], "unknown option '--layers'"],
  ])('%j', async (words, values, message) => {
    const folder = folderWith({ [ce]: column('ce', values) })
    const { code, stdout, stderr } = await assay(['thresholds', ...words], folder)
    expect(stderr).toContain(message)
    expect([code, stdout]).toEqual([4, ''])
  })
})

const NONE = { mean: 0, max: 0 }
const sequence = (prompt: string, kept: number): SequenceSummary => ({
  prompt,
  continuation: '00000000',
  kept,
  missing: 0,
  error: 0.01,
  noise: null,
  nonFinite: { reference: 0, target: 0, first: -1 },
  worst: { step: 0, klTail: 0.1, referenceTail: 0.1, targetTail: 0.2, overlap: 19, rank: null },
  wrecked: 0,
  flips: 1,
  widestFlip: { step: 0, referenceGap: Number.POSITIVE_INFINITY, isBeyond: false, targetGap: 1 },
  divergence: null,
  metrics: {
    ce: NONE,
    prob_mean: NONE,
    prob_std: { mean: Number.NaN, max: 1 },
    diff_mean: NONE,
    kl: NONE,
    kl_tail: NONE,
  },
})

describe('files of a baseline of ours', () => {
  const write = async (folder: string, model: string, batchSize: number, kept: number, baseline = 'torch:cpu') => {
    const metrics = join(folder, 'metrics')
    const shape = { ...SHAPE, batchSize }
    const values = { ce: upTo(400), diff_mean: upTo(400), prob_mean: upTo(400), prob_std: upTo(400) }
    await writeMetricFiles(metrics, model, shape, values)
    const rest = { versions: {}, digests: {}, dataset: 'bundled', topK: 20, created: '2026-01-01T00:00:00Z' }
    const sequences = [sequence('a', kept - 1), sequence('b', 1)]
    await writeSequences(metrics, { model, reference: 'ort:cpu', baseline, shape, sequences, ...rest })
  }

  test('give the thresholds file its origin and the names of the sequences', async () => {
    const folder = folderWith({})
    for (const batchSize of [1, 8]) await write(folder, './org/m/', batchSize, 400)
    const { code, stdout, stderr } = await assay(['thresholds', './org/m/'], folder)
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('org--m ce 396.01\n')
    expect(stderr).not.toContain('note:')
    const written = await readThresholds(join(folder, 'metrics/org--m-thresholds.json'))
    expect(written).toMatchObject({ reference: 'ort:cpu', baseline: 'torch:cpu', dataset: 'bundled' })
    expect(written.shapes.map(({ sequences }) => sequences)).toEqual(
      [1, 8].map((batch) => `org--m_max-new-tokens-128_batch-size-${batch}_seq-length-64_dtype-fp16.sequences.json`),
    )
    expect(readFileSync(join(folder, 'metrics/org--m-thresholds.json'), 'utf8')).toContain('"assay/thresholds@1"')
  })
})
