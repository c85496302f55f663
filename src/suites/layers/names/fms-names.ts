type Replacement = readonly [RegExp, string]

const LLAMA: readonly Replacement[] = [
  [/^lm_head(?![^@#])/, 'head'],
  [/^model\.embed_tokens/, 'base_model.embedding'],
  [/^model\.norm/, 'base_model.dec_norm'],
  [/^model\.layers\.(\d+)/, 'base_model.layers$1'],
  [/^model(?![^@#])/, 'base_model'],
  [/\.self_attn\.([qkv])_proj/, '.attn.in_proj.$1'],
  [/\.self_attn\.o_proj/, '.attn.dense'],
  [/\.self_attn/, '.attn'],
  [/\.mlp\.gate_proj/, '.ff_sub_layer.wg'],
  [/\.mlp\.act_fn/, '.ff_sub_layer.a'],
  [/\.mlp\.up_proj/, '.ff_sub_layer.w1'],
  [/\.mlp\.down_proj/, '.ff_sub_layer.w2'],
  [/\.mlp/, '.ff_sub_layer'],
  [/\.input_layernorm/, '.ln'],
  [/\.post_attention_layernorm/, '.ff_ln'],
]

const GPT2: readonly Replacement[] = [
  [/^lm_head(?![^@#])/, 'head'],
  [/^transformer\.wte/, 'base_model.embedding'],
  [/^transformer\.wpe/, 'base_model.position_embedding'],
  [/^transformer\.ln_f/, 'base_model.dec_norm'],
  [/^transformer\.h\.(\d+)/, 'base_model.layers$1'],
  [/^transformer(?![^@#])/, 'base_model'],
  [/\.attn\.c_attn/, '.attn.in_proj.qkv_fused'],
  [/\.attn\.c_proj/, '.attn.dense'],
  [/\.mlp\.c_fc/, '.ff_sub_layer.w1'],
  [/\.mlp\.act/, '.ff_sub_layer.a'],
  [/\.mlp\.c_proj/, '.ff_sub_layer.w2'],
  [/\.mlp/, '.ff_sub_layer'],
  [/\.ln_1/, '.ln'],
  [/\.ln_2/, '.ff_ln'],
]

const ROBERTA: readonly Replacement[] = [
  [/^roberta\.embeddings\.word_embeddings/, 'base_model.embedding'],
  [/^roberta\.embeddings\.position_embeddings/, 'base_model.position_embedding'],
  [/^roberta\.embeddings\.token_type_embeddings/, 'base_model.token_type_embeddings'],
  [/^roberta\.embeddings\.LayerNorm/, 'base_model.enc_norm'],
  [/^roberta\.encoder\.layer\.(\d+)/, 'base_model.layers$1'],
  [/^roberta(?![^@#])/, 'base_model'],
  [/\.attention\.self\.(query|key|value)/, '.attn.in_proj.$1'],
  [/\.attention\.output\.dense/, '.attn.dense'],
  [/\.attention\.output\.LayerNorm/, '.ln'],
  [/\.attention(?![^@#])/, '.attn'],
  [/\.intermediate\.dense/, '.ff_sub_layer.w1'],
  [/\.intermediate\.intermediate_act_fn/, '.ff_sub_layer.a'],
  [/\.output\.dense/, '.ff_sub_layer.w2'],
  [/\.output\.LayerNorm/, '.ff_ln'],
  [/^lm_head\.dense/, 'classification_head.dense'],
  [/^lm_head\.layer_norm/, 'classification_head.ln'],
  [/^lm_head\.decoder/, 'classification_head.head'],
  [/^qa_outputs/, 'qa_head'],
]

/** Architectures whose modules have a counterpart in foundation-model-stack, by their `model_type`. */
const ARCHITECTURES: ReadonlyMap<string, readonly Replacement[]> = new Map([
  ['llama', LLAMA],
  ['granite', LLAMA],
  ['mistral', LLAMA],
  ['gpt2', GPT2],
  ['gpt_bigcode', GPT2],
  ['roberta', ROBERTA],
])

const PROJECTIONS: Readonly<Record<string, string>> = { q: 'query', k: 'key', v: 'value' }

/** Gives layers the names of foundation-model-stack (`model.base_model.layers7.ln`); null: the architecture is not known. */
export function fmsNames(modelType: string): ((name: string) => string) | null {
  const replacements = ARCHITECTURES.get(modelType)
  if (!replacements) return null
  return (name) => {
    const found = replacements.reduce((text, [pattern, by]) => text.replace(pattern, by), name)
    if (found === name) return name
    return `model.${found.replace(/\.in_proj\.([qkv])(?![^@#])/, (_, letter: string) => `.in_proj.${PROJECTIONS[letter]}`)}`
  }
}
