import { expect, test } from 'vitest'
import { explainDocumentedKeys } from './documented-keys.ts'

const LAYER = [
  'input_layernorm',
  'mlp.down_proj',
  'mlp.gate_proj',
  'mlp.up_proj',
  'post_attention_layernorm',
  'self_attn.k_proj',
  'self_attn.o_proj',
  'self_attn.q_proj',
  'self_attn.v_proj',
]
const THREE = [0, 1, 2].flatMap((i) => LAYER.map((name) => `model.layers.${i}.${name}.weight`))
const LLAMA = ['model.embed_tokens.weight', 'model.norm.weight', 'lm_head.weight', ...THREE]
const DOCUMENTED_LAYER = [
  'attn.dense',
  'attn.in_proj.key',
  'attn.in_proj.query',
  'attn.in_proj.value',
  'ff_ln',
  'ff_sub_layer.w1',
  'ff_sub_layer.w2',
  'ff_sub_layer.wg',
  'ln',
]
const DOCUMENTED = [
  'base_model.dec_norm.weight',
  'base_model.embedding.weight',
  ...[0, 1, 2].flatMap((i) => DOCUMENTED_LAYER.map((name) => `base_model.layers.${i}.${name}.weight`)),
  'head.weight',
]

test('the documented names of a model of three layers are those of its weights here', () => {
  expect(DOCUMENTED).toHaveLength(30)
  expect(explainDocumentedKeys(DOCUMENTED, LLAMA, false)).toBeNull()
})

test('names as transformers has them are compared as they are', () => {
  expect(explainDocumentedKeys(LLAMA, LLAMA, false)).toBeNull()
  expect(explainDocumentedKeys(LLAMA, LLAMA.slice(1), false)).toBe(
    'the model lacks model.embed_tokens.weight, by the documented list of 30 names',
  )
})

test('a head that shares weights is listed there, and a name that is new or gone is told', () => {
  const tied = LLAMA.filter((name) => name !== 'lm_head.weight')
  expect(explainDocumentedKeys(DOCUMENTED, tied, true)).toBeNull()
  expect(explainDocumentedKeys(DOCUMENTED, tied, false)).toBe(
    'the model lacks head.weight, by the documented list of 30 names',
  )
  expect(explainDocumentedKeys(DOCUMENTED.slice(2), LLAMA, false)).toBe(
    'the model has base_model.embedding.weight and 1 more besides, by the documented list of 28 names',
  )
})
