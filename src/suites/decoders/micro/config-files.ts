import { basename } from 'node:path'
import { END_ID } from './byte-tokenizer.ts'
import type { DecoderConfig } from './decoder-config.ts'
import type { WeightDType } from './random-weights.ts'

const ARCHITECTURES = {
  llama: 'LlamaForCausalLM',
  granite: 'GraniteForCausalLM',
  mistral: 'MistralForCausalLM',
  gpt2: 'GPT2LMHeadModel',
} as const

/** The configuration as transformers 4 and 5 and transformers.js read it. */
export function configJson(
  config: DecoderConfig,
  dtype: WeightDType,
  onnxFiles: readonly string[] = [],
): Record<string, unknown> {
  return {
    architectures: [ARCHITECTURES[config.family]],
    model_type: config.family,
    vocab_size: config.vocabulary,
    ...(config.family === 'gpt2' ? gpt2Sizes(config) : llamaSizes(config)),
    tie_word_embeddings: config.isTied,
    initializer_range: 0.02,
    use_cache: true,
    ...tokenIds(),
    torch_dtype: dtype,
    'transformers.js_config': browserConfig(onnxFiles),
  }
}

/** What transformers.js cannot see in the files; its older versions do not look for the cache's dtype either. */
function browserConfig(onnxFiles: readonly string[]): Record<string, unknown> {
  const external = onnxFiles.filter((name) => onnxFiles.includes(`${name}_data`)).map((name) => [basename(name), 1])
  return {
    kv_cache_dtype: { fp16: 'float16' },
    ...(external.length > 0 ? { use_external_data_format: Object.fromEntries(external) } : {}),
  }
}

export function generationConfigJson(): Record<string, unknown> {
  return { ...tokenIds(), do_sample: false }
}

function tokenIds() {
  return { bos_token_id: END_ID, eos_token_id: END_ID, pad_token_id: END_ID }
}

function gpt2Sizes(config: DecoderConfig): Record<string, unknown> {
  return {
    n_layer: config.layers,
    n_embd: config.hidden,
    n_head: config.heads,
    n_inner: config.intermediate,
    n_positions: config.maxPositions,
    n_ctx: config.maxPositions,
    layer_norm_epsilon: config.epsilon,
    activation_function: 'gelu_new',
    attn_pdrop: 0,
    embd_pdrop: 0,
    resid_pdrop: 0,
  }
}

function llamaSizes(config: DecoderConfig): Record<string, unknown> {
  const { family, ropeTheta, embeddingMultiplier, attentionMultiplier, residualMultiplier, logitsScaling } = config
  return {
    hidden_size: config.hidden,
    intermediate_size: config.intermediate,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    ...(family === 'granite' ? {} : { head_dim: config.headSize }),
    hidden_act: 'silu',
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.epsilon,
    attention_dropout: 0,
    rope_theta: ropeTheta,
    rope_parameters: { rope_theta: ropeTheta, rope_type: 'default' },
    ...(family === 'mistral' ? { sliding_window: config.slidingWindow } : biases(config)),
    ...(family === 'granite'
      ? {
          embedding_multiplier: embeddingMultiplier,
          attention_multiplier: attentionMultiplier,
          residual_multiplier: residualMultiplier,
          logits_scaling: logitsScaling,
        }
      : {}),
  }
}

function biases({ hasAttentionBias, hasFeedForwardBias }: DecoderConfig): Record<string, unknown> {
  return { attention_bias: hasAttentionBias, mlp_bias: hasFeedForwardBias }
}
