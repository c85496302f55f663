import { expect, test } from 'vitest'
import { layerCsvName, parseLayerCsvName } from './csv-names.ts'

const PREFIX = 'ibm-granite--granite-3.2-8b-instruct_max-new-tokens-128_batch-size-1_seq-length-0_dtype-float16'

test('a documented name is read, with its layer after the last dashes', () => {
  expect(parseLayerCsvName(`${PREFIX}--model.base_model.layers7.ln.abs_diff.csv`)).toEqual({
    model: 'ibm-granite--granite-3.2-8b-instruct',
    shape: { newTokens: 128, batchSize: 1, promptLength: 0, dtype: 'float16' },
    prefix: PREFIX,
    layer: 'model.base_model.layers7.ln',
    iteration: 0,
    metric: 'abs_diff',
  })
  expect(parseLayerCsvName(`${PREFIX}--model.head.iter-4711.cos_sim.csv`)).toMatchObject({
    layer: 'model.head',
    iteration: 4711,
    metric: 'cos_sim',
  })
})

test.each(['model.norm', 'attn@1#key', '/model/layers.0/MatMul_output_0', 'a--b', 'what?', '50%', 'a.iter-x'])(
  'the layer %s is written into a name of one file and read from it',
  (layer) => {
    const name = layerCsvName(PREFIX, layer, 3, 'cos_sim')
    expect(name).not.toContain('/')
    expect(parseLayerCsvName(name)).toMatchObject({ prefix: PREFIX, layer, iteration: 3, metric: 'cos_sim' })
  },
)

test('the first step has no number', () => {
  expect(layerCsvName(PREFIX, 'model.norm', 0, 'abs_diff')).toBe(`${PREFIX}--model.norm.abs_diff.csv`)
})

test.each([
  `${PREFIX}.ce.csv`,
  `${PREFIX}--model.norm.mean.csv`,
  `${PREFIX}--model.norm.abs_diff.csv.bak`,
  `${PREFIX}--.abs_diff.csv`,
  'model.norm.abs_diff.csv',
  'a--model.norm.abs_diff.csv',
])('%s is none', (name) => {
  expect(parseLayerCsvName(name)).toBeNull()
})
