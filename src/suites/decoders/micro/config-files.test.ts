import { expect, test } from 'vitest'
import { microDecoder } from './choices.ts'
import { configJson } from './config-files.ts'

const config = microDecoder('llama', {})

test('transformers.js is told of weights that lie beside a model', () => {
  const files = ['onnx/model.onnx', 'onnx/model.onnx_data', 'onnx/model_fp16.onnx']
  expect(configJson(config, 'float32', files)['transformers.js_config']).toEqual({
    kv_cache_dtype: { fp16: 'float16' },
    use_external_data_format: { 'model.onnx': 1 },
  })
})

test('rotary embeddings are written as transformers 4 and as transformers 5 read them', () => {
  expect(configJson(config, 'float32')).toMatchObject({
    rope_theta: 10_000,
    rope_parameters: { rope_theta: 10_000, rope_type: 'default' },
  })
})
