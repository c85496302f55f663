import { FormatError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/json.ts'
import { checkDecoder, type DecoderConfig, FAMILIES, type Family } from './decoder-config.ts'

type Json = Readonly<Record<string, unknown>>
type Names = Readonly<Record<string, string>>

const COMMON_NAMES: Names = { vocabulary: 'vocab_size', slidingWindow: 'sliding_window', headSize: 'head_dim' }
const LLAMA_NAMES: Names = {
  ...COMMON_NAMES,
  layers: 'num_hidden_layers',
  hidden: 'hidden_size',
  heads: 'num_attention_heads',
  keyValueHeads: 'num_key_value_heads',
  intermediate: 'intermediate_size',
  maxPositions: 'max_position_embeddings',
}
const GPT2_NAMES: Names = {
  ...COMMON_NAMES,
  layers: 'n_layer',
  hidden: 'n_embd',
  heads: 'n_head',
  intermediate: 'n_inner',
  maxPositions: 'n_positions',
}

/** Reads a folder's configuration with the defaults of transformers; refuses settings that our graph does not support. */
export function readDecoderConfig(json: Json, path: string): DecoderConfig {
  const family = FAMILIES.find((name) => name === json.model_type)
  if (!family) throw refusal(path, `model_type ${shown(json.model_type)}`, `one of ${FAMILIES.join(', ')}`)
  const fields = new Fields(json, path)
  if ('quantization_config' in json) throw refusal(path, 'a quantization_config', 'plain weights')
  const config = family === 'gpt2' ? readGpt2(fields) : readLlama(fields, family)
  const names = family === 'gpt2' ? GPT2_NAMES : LLAMA_NAMES
  checkDecoder(config, (key) => names[key] ?? key)
  return config
}

function readLlama(fields: Fields, family: Exclude<Family, 'gpt2'>): DecoderConfig {
  fields.requires('hidden_act', 'silu')
  const [hidden, heads] = [fields.size('hidden_size'), fields.size('num_attention_heads')]
  const headSize = fields.size('head_dim', hidden / heads)
  const isGranite = family === 'granite'
  return {
    family,
    layers: fields.size('num_hidden_layers'),
    hidden,
    heads,
    keyValueHeads: fields.size('num_key_value_heads', family === 'mistral' ? 8 : heads),
    headSize,
    intermediate: fields.size('intermediate_size'),
    vocabulary: fields.size('vocab_size'),
    maxPositions: fields.size('max_position_embeddings', 2048),
    epsilon: fields.size('rms_norm_eps', 1e-6),
    isTied: fields.flag('tie_word_embeddings', false),
    hasAttentionBias: fields.flag('attention_bias', false),
    hasFeedForwardBias: fields.flag('mlp_bias', false),
    ropeTheta: readRope(fields),
    slidingWindow: family === 'mistral' ? fields.window() : null,
    embeddingMultiplier: isGranite ? fields.size('embedding_multiplier', 1) : 1,
    attentionMultiplier: isGranite ? fields.size('attention_multiplier', 1) : 1 / Math.sqrt(headSize),
    residualMultiplier: isGranite ? fields.size('residual_multiplier', 1) : 1,
    logitsScaling: isGranite ? fields.size('logits_scaling', 1) : 1,
  }
}

function readGpt2(fields: Fields): DecoderConfig {
  fields.requires('activation_function', 'gelu_new')
  fields.requires('scale_attn_weights', true)
  fields.requires('scale_attn_by_inverse_layer_idx', false)
  fields.requires('add_cross_attention', false)
  const [hidden, heads] = [fields.size('n_embd'), fields.size('n_head')]
  return {
    family: 'gpt2',
    layers: fields.size('n_layer'),
    hidden,
    heads,
    keyValueHeads: heads,
    headSize: hidden / heads,
    intermediate: fields.size('n_inner', 4 * hidden),
    vocabulary: fields.size('vocab_size'),
    maxPositions: fields.size('n_positions', 1024),
    epsilon: fields.size('layer_norm_epsilon', 1e-5),
    isTied: fields.flag('tie_word_embeddings', true),
    hasAttentionBias: true,
    hasFeedForwardBias: true,
    ropeTheta: 0,
    slidingWindow: null,
    embeddingMultiplier: 1,
    attentionMultiplier: 1 / Math.sqrt(hidden / heads),
    residualMultiplier: 1,
    logitsScaling: 1,
  }
}

/** transformers 5 has it in rope_parameters, 4 in rope_theta and rope_scaling. */
function readRope(fields: Fields): number {
  const rope = fields.section('rope_parameters') ?? fields.section('rope_scaling')
  if (rope) {
    const inside = new Fields({ rope_type: rope.rope_type ?? rope.type ?? 'default', ...rope }, fields.path)
    inside.requires('rope_type', 'default')
    inside.requires('partial_rotary_factor', 1)
    if (rope.rope_theta !== undefined) return inside.size('rope_theta')
  }
  return fields.size('rope_theta', 10_000)
}

class Fields {
  readonly path: string
  private readonly json: Json

  constructor(json: Json, path: string) {
    this.json = json
    this.path = path
  }

  size(key: string, usual?: number): number {
    const value = this.json[key] ?? usual
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
    throw refusal(this.path, `${key} ${shown(value)}`, 'a number above 0')
  }

  flag(key: string, usual: boolean): boolean {
    const value = this.json[key] ?? usual
    if (typeof value === 'boolean') return value
    throw refusal(this.path, `${key} ${shown(value)}`, 'true or false')
  }

  window(): number | null {
    // transformers takes 4096 where none is given.
    return this.json.sliding_window === null ? null : this.size('sliding_window', 4096)
  }

  section(key: string): Json | null {
    const value = this.json[key]
    return isObject(value) ? value : null
  }

  requires(key: string, only: string | number | boolean): void {
    const value = this.json[key] ?? only
    if (value !== only) throw refusal(this.path, `${key} ${shown(value)}`, shown(only))
  }
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value)?.slice(0, 80) ?? String(value))
}

function refusal(path: string, found: string, wanted: string): FormatError {
  const text = `${path}: found ${found}, expected ${wanted}`
  return new FormatError('decoder-config', `${text}; export it with optimum instead (optimum-cli export onnx)`)
}
