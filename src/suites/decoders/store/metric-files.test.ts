import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { measureSequence } from '../gates/summarise-sequence.ts'
import { keptPair } from '../gates/testing/kept-steps.ts'
import { findMetricFiles, readMetricFile, writeMetricFiles } from './metric-files.ts'
import { readSequences, writeSequences } from './sequences-file.ts'
import { readThresholds } from './thresholds-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay metrics '))
afterAll(() => rmSync(folder, { recursive: true }))

const SHAPE = { newTokens: 2, batchSize: 1, promptLength: 3, dtype: 'bf16' }

describe('metric files', () => {
  const values = {
    ce: [2.5, 0.1],
    prob_mean: [-1e-9, 1e30],
    prob_std: [Number.NaN, Infinity],
    diff_mean: [0, 7.8396e-4],
  }

  test('are written as float32 in the digits of a double, and read back', async () => {
    const paths = await writeMetricFiles(folder, 'org/m', SHAPE, values)
    expect(readFileSync(paths[0]!, 'utf8')).toBe('ce\n2.5\n0.10000000149011612\n')
    expect(readFileSync(paths[2]!, 'utf8')).toBe('prob_std\nnan\ninf\n')
    const files = findMetricFiles(folder, folder)
    expect(files.map(({ metric }) => metric)).toEqual(['ce', 'diff_mean', 'prob_mean', 'prob_std'])
    const read = await readMetricFile(files[1]!)
    expect([...read]).toEqual([0, Math.fround(7.8396e-4)])
    await expect(readMetricFile(files[3]!)).rejects.toThrow(/prob_std\.csv:2: found "nan"/)
  })

  test('are files, and a folder of that name is none', () => {
    mkdirSync(join(folder, 'x_max-new-tokens-1_batch-size-1_seq-length-1_dtype-x.ce.csv'))
    expect(findMetricFiles(folder, folder)).toHaveLength(4)
    expect(() => findMetricFiles('none', folder)).toThrow(/is not a folder of metric files/)
  })
})

describe('sequences', () => {
  const logits = [
    [3, 2, 1],
    [1, 3, 2],
  ]
  const target = [
    [3, 2.5, 1],
    [1, Number.NaN, 2],
  ]
  const { summary } = measureSequence({ prompt: 'p', ...keptPair(logits, target, 2), eos: [] })
  const content = {
    model: 'org/m',
    reference: 'ort:cpu',
    baseline: 'torch:cpu,dtype=bf16',
    versions: { 'ort:cpu': '1.30.0' },
    digests: { model: 'abc' },
    dataset: 'bundled',
    shape: SHAPE,
    topK: 2,
    created: '2026-01-01T00:00:00.000Z',
    sequences: [summary],
  }

  test('come back as they were, NaN too', async () => {
    const path = await writeSequences(folder, content)
    expect(path.endsWith('org--m_max-new-tokens-2_batch-size-1_seq-length-3_dtype-bf16.sequences.json')).toBe(true)
    expect(summary.error).toBeNaN()
    expect(await readSequences(path)).toEqual(content)
  })

  test.each([
    ['{', /is not JSON/],
    ['[]', /has no schema, expected "assay\/sequences@1"/],
    ['{"schema":"assay/sequences@9"}', /has schema "assay\/sequences@9"/],
    ['{"schema":"assay/sequences@1"}', /: model: Invalid input/],
  ])('%s is refused', async (text, message) => {
    const path = join(folder, 'bad.json')
    writeFileSync(path, text)
    await expect(readSequences(path)).rejects.toThrow(message)
  })

  test('a changed field is named', async () => {
    const path = await writeSequences(folder, content)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"kept": 2', '"kept": -2'))
    await expect(readSequences(path)).rejects.toThrow(/sequences\.0\.kept/)
  })
})

test('a thresholds file with a threshold that is no number is refused', async () => {
  const metric = {
    direction: 'lower',
    value: 'NaN',
    statistic: 'p99',
    count: 1,
    interval: { low: 1, high: 1, confidence: 1 },
  }
  const rest = { model: 'm', reference: null, baseline: null, shapes: [], dataset: null, created: '', environment: {} }
  const path = join(folder, 'm-thresholds.json')
  writeFileSync(path, JSON.stringify({ schema: 'assay/thresholds@1', ...rest, metrics: { ce: metric } }))
  await expect(readThresholds(path)).rejects.toThrow(/metrics\.ce\.value/)
  await expect(readThresholds(join(folder, 'm-threshold.json'))).rejects.toThrow(/did you mean .*m-thresholds\.json/)
})
