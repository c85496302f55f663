import { describe, expect, test } from 'vitest'
import { metricPrefix, modelInNames } from '../../../files/formats/metric-prefix.ts'
import { parseMetricName } from './metric-names.ts'

const SHAPE = { newTokens: 128, batchSize: 8, promptLength: 64, dtype: 'fp16' }
const MISTRAL = '--tmp--aiu-fms-testing-utils--models--Mistral-7B-Instruct-v0.3'

describe('names of metric files', () => {
  test('are the documented ones', () => {
    const path = '/tmp/aiu-fms-testing-utils/models/Mistral-7B-Instruct-v0.3'
    const prefix = metricPrefix(path, SHAPE)
    expect(prefix).toBe(`${MISTRAL}_max-new-tokens-128_batch-size-8_seq-length-64_dtype-fp16`)
    expect(parseMetricName(`${prefix}.ce.csv`)).toEqual({ model: MISTRAL, shape: SHAPE, metric: 'ce' })
  })

  test('are read in the older form too', () => {
    const name = `${MISTRAL}_max-new-tokens-128_batch-size-8_seq-length64_dtype-fp16.diff_mean.csv`
    expect(parseMetricName(name)).toEqual({ model: MISTRAL, shape: SHAPE, metric: 'diff_mean' })
  })

  test.each([
    ['org/m', 'org--m'],
    ['org/m/', 'org--m'],
    ['./models/m//', 'models--m'],
    ['././m', 'm'],
    ['/model-path/', '--model-path'],
    ['org--m', 'org--m'],
    ['../m', '..--m'],
    ['/', '--'],
  ])('spell the model %s as %s', (model, name) => {
    expect(modelInNames(model)).toBe(name)
  })

  test('hold any model, also one that looks like a shape', () => {
    const model = 'a_max-new-tokens-1_batch-size-1_seq-length-1_dtype-x'
    expect(parseMetricName(`${metricPrefix(model, SHAPE)}.prob_std.csv`)).toMatchObject({ model, shape: SHAPE })
  })

  test('that no file system takes are refused before anything is measured', () => {
    expect(metricPrefix('m'.repeat(170), SHAPE).length).toBeLessThan(240)
    expect(() => metricPrefix(`/a${'/long'.repeat(50)}`, SHAPE)).toThrow(/names of \d+ bytes; give .* a shorter path/)
  })

  test.each([
    'm.ce.csv',
    'm_max-new-tokens-1_batch-size-1_seq-length-1_dtype-x.abs_diff.csv',
    'm_max-new-tokens-1_batch-size-1_seq-length-1_dtype-x.ce.csv.bak',
    'm_max-new-tokens-x_batch-size-1_seq-length-1_dtype-x.ce.csv',
    '_max-new-tokens-1_batch-size-1_seq-length-1_dtype-x.ce.csv',
    'm_max-new-tokens-1_batch-size-1_seq-length-1_dtype-x.cpu_validation_info.0.out',
  ])('%s is none', (name) => {
    expect(parseMetricName(name)).toBeNull()
  })
})
