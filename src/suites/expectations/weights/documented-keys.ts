/** How foundation-model-stack names the parts of a model that transformers names on the left. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [/^model\.embed_tokens\./, 'base_model.embedding.'],
  [/^model\.norm\./, 'base_model.dec_norm.'],
  [/^lm_head\./, 'head.'],
  [/^model\.layers\./, 'base_model.layers.'],
  [/\.input_layernorm\./, '.ln.'],
  [/\.post_attention_layernorm\./, '.ff_ln.'],
  [/\.self_attn\.q_proj\./, '.attn.in_proj.query.'],
  [/\.self_attn\.k_proj\./, '.attn.in_proj.key.'],
  [/\.self_attn\.v_proj\./, '.attn.in_proj.value.'],
  [/\.self_attn\.o_proj\./, '.attn.dense.'],
  [/\.mlp\.gate_proj\./, '.ff_sub_layer.wg.'],
  [/\.mlp\.up_proj\./, '.ff_sub_layer.w1.'],
  [/\.mlp\.down_proj\./, '.ff_sub_layer.w2.'],
]

/** The names as the documented files have them: those of llama, granite and mistral differ there. */
function documentedNames(names: readonly string[]): string[] {
  return names.map((name) => RENAMED.reduce((text, [here, there]) => text.replace(here, there), name))
}

/** What differs from the names that another tool captured, in one sentence; null: nothing. */
export function explainDocumentedKeys(
  expected: readonly string[],
  names: readonly string[],
  isTied: boolean,
): string | null {
  const isForeign = expected.some((name) => name.startsWith('base_model.'))
  const found = new Set(isForeign ? documentedNames(names) : names)
  // There, a head that shares the weights of the embedding is listed too.
  if (isForeign && isTied && expected.includes('head.weight')) found.add('head.weight')
  const gone = expected.filter((name) => !found.has(name))
  const fresh = [...found].filter((name) => !expected.includes(name))
  if (gone.length === 0 && fresh.length === 0) return null
  const listed = (list: readonly string[]) => `${list[0]}${list.length > 1 ? ` and ${list.length - 1} more` : ''}`
  const parts = [
    ...(gone.length > 0 ? [`lacks ${listed(gone)}`] : []),
    ...(fresh.length > 0 ? [`has ${listed(fresh)} besides`] : []),
  ]
  return `the model ${parts.join(' and ')}, by the documented list of ${expected.length} names`
}
