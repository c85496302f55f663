import type { DecoderConfig } from './decoder-config.ts'

/** A weight as transformers names and shapes it, and how a random one is drawn. */
export interface WeightSpec {
  readonly name: string
  readonly shape: readonly number[]
  readonly mean: number
  readonly deviation: number
}

/** All weights of a decoder, in the order in which they are stored. */
export function weightSpecs(config: DecoderConfig): WeightSpec[] {
  return config.family === 'gpt2' ? gpt2Weights(config) : llamaWeights(config)
}

function llamaWeights(config: DecoderConfig): WeightSpec[] {
  const { hidden, vocabulary, isTied } = config
  const layers = Array.from({ length: config.layers }, (_, i) => llamaLayer(config, `model.layers.${i}`))
  return [
    embedding('model.embed_tokens.weight', vocabulary, config),
    ...layers.flat(),
    scale('model.norm.weight', hidden),
    ...(isTied ? [] : [linear('lm_head', vocabulary, hidden, config.logitsScaling)]),
  ]
}

function llamaLayer(config: DecoderConfig, layer: string): WeightSpec[] {
  const { hidden, heads, keyValueHeads, headSize, intermediate } = config
  const attention = (name: string, out: number, from: number) =>
    withBias(linear(`${layer}.self_attn.${name}`, out, from), config.hasAttentionBias)
  const forward = (name: string, out: number, from: number) =>
    withBias(linear(`${layer}.mlp.${name}`, out, from), config.hasFeedForwardBias)
  return [
    scale(`${layer}.input_layernorm.weight`, hidden),
    ...attention('q_proj', heads * headSize, hidden),
    ...attention('k_proj', keyValueHeads * headSize, hidden),
    ...attention('v_proj', keyValueHeads * headSize, hidden),
    ...attention('o_proj', hidden, heads * headSize),
    scale(`${layer}.post_attention_layernorm.weight`, hidden),
    ...forward('gate_proj', intermediate, hidden),
    ...forward('up_proj', intermediate, hidden),
    ...forward('down_proj', hidden, intermediate),
  ]
}

function gpt2Weights(config: DecoderConfig): WeightSpec[] {
  const { hidden, vocabulary, maxPositions, intermediate } = config
  const layer = (prefix: string): WeightSpec[] => [
    ...layerNorm(`${prefix}.ln_1`, hidden),
    ...convolution(`${prefix}.attn.c_attn`, hidden, 3 * hidden),
    ...convolution(`${prefix}.attn.c_proj`, hidden, hidden),
    ...layerNorm(`${prefix}.ln_2`, hidden),
    ...convolution(`${prefix}.mlp.c_fc`, hidden, intermediate),
    ...convolution(`${prefix}.mlp.c_proj`, intermediate, hidden),
  ]
  return [
    embedding('transformer.wte.weight', vocabulary, config),
    { name: 'transformer.wpe.weight', shape: [maxPositions, hidden], mean: 0, deviation: 0.5 / Math.sqrt(hidden) },
    ...Array.from({ length: config.layers }, (_, i) => layer(`transformer.h.${i}`)).flat(),
    ...layerNorm('transformer.ln_f', hidden),
    ...(config.isTied ? [] : [linear('lm_head', vocabulary, hidden)]),
  ]
}

/**
 * Drawn so that logits are about N(0, 1) and layers change what goes through them: with smaller numbers, as trainings
 * begin with, all logits are nearly equal, and an error hardly shows.
 */
function embedding(name: string, vocabulary: number, config: DecoderConfig): WeightSpec {
  const { hidden, isTied, logitsScaling, embeddingMultiplier } = config
  const deviation = isTied ? logitsScaling / Math.sqrt(hidden) : 1 / embeddingMultiplier
  return { name, shape: [vocabulary, hidden], mean: 0, deviation }
}

function linear(module: string, out: number, from: number, gain = 1): WeightSpec {
  return { name: `${module}.weight`, shape: [out, from], mean: 0, deviation: gain / Math.sqrt(from) }
}

/** GPT-2's linear layers keep their weights the other way round. */
function convolution(module: string, from: number, out: number): WeightSpec[] {
  const weight = { name: `${module}.weight`, shape: [from, out], mean: 0, deviation: 1 / Math.sqrt(from) }
  return [weight, bias(module, out)]
}

function withBias(weight: WeightSpec, hasBias: boolean): WeightSpec[] {
  return hasBias ? [weight, bias(weight.name.replace(/\.weight$/, ''), weight.shape[0]!)] : [weight]
}

function layerNorm(module: string, size: number): WeightSpec[] {
  return [scale(`${module}.weight`, size), bias(module, size)]
}

/** Neither 1 nor 0 everywhere, so that a target that leaves them out is found. */
function scale(name: string, size: number): WeightSpec {
  return { name, shape: [size], mean: 1, deviation: 0.1 }
}

function bias(module: string, size: number): WeightSpec {
  return { name: `${module}.bias`, shape: [size], mean: 0, deviation: 0.1 }
}
