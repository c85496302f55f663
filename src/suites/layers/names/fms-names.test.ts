import { expect, test } from 'vitest'
import { fmsNames } from './fms-names.ts'

function renamed(modelType: string, ...names: readonly string[]): string[] {
  return names.map(fmsNames(modelType)!)
}

test.each(['llama', 'granite', 'mistral'])('modules of %s have their documented names', (modelType) => {
  const layer = (name: string) => `model.layers.7.${name}`
  expect(
    renamed(
      modelType,
      'model.embed_tokens',
      ...['input_layernorm', 'self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj', 'self_attn.o_proj'].map(layer),
      ...['self_attn#0', 'post_attention_layernorm', 'mlp.gate_proj', 'mlp.act_fn', 'mlp.up_proj'].map(layer),
      ...['mlp.down_proj', 'mlp'].map(layer),
      ...['model.layers.7@1', 'model.norm', 'model#last_hidden_state', 'lm_head'],
    ),
  ).toEqual([
    'model.base_model.embedding',
    ...['ln', 'attn.in_proj.query', 'attn.in_proj.key', 'attn.in_proj.value', 'attn.dense', 'attn#0', 'ff_ln'].map(
      (name) => `model.base_model.layers7.${name}`,
    ),
    ...['wg', 'a', 'w1', 'w2'].map((name) => `model.base_model.layers7.ff_sub_layer.${name}`),
    'model.base_model.layers7.ff_sub_layer',
    'model.base_model.layers7@1',
    'model.base_model.dec_norm',
    'model.base_model#last_hidden_state',
    'model.head',
  ])
})

test('modules of gpt2 have the names of its counterpart', () => {
  const names = ['transformer.wte', 'transformer.wpe', 'transformer.h.0.ln_1', 'transformer.h.0.attn.c_attn']
  const others = ['transformer.h.0.attn.c_proj', 'transformer.h.0.mlp.c_fc', 'transformer.ln_f', 'lm_head']
  expect(renamed('gpt2', ...names, ...others)).toEqual([
    'model.base_model.embedding',
    'model.base_model.position_embedding',
    'model.base_model.layers0.ln',
    'model.base_model.layers0.attn.in_proj.qkv_fused',
    'model.base_model.layers0.attn.dense',
    'model.base_model.layers0.ff_sub_layer.w1',
    'model.base_model.dec_norm',
    'model.head',
  ])
})

test('modules of roberta have the names of its counterpart', () => {
  const layer = (name: string) => `roberta.encoder.layer.3.${name}`
  expect(
    renamed(
      'roberta',
      'roberta.embeddings.LayerNorm',
      ...['attention.self.query', 'attention.output.dense', 'attention.output.LayerNorm'].map(layer),
      ...['intermediate.dense', 'output.dense', 'output.LayerNorm'].map(layer),
      'qa_outputs',
    ),
  ).toEqual([
    'model.base_model.enc_norm',
    ...['attn.in_proj.query', 'attn.dense', 'ln', 'ff_sub_layer.w1', 'ff_sub_layer.w2', 'ff_ln'].map(
      (name) => `model.base_model.layers3.${name}`,
    ),
    'model.qa_head',
  ])
})

test('other names, and those of other architectures, stay', () => {
  expect(renamed('llama', 'logits', 'vision.tower', 'model.rotary_emb#0')).toEqual([
    'logits',
    'vision.tower',
    'model.rotary_emb#0',
  ])
  expect(fmsNames('whisper')).toBeNull()
})
