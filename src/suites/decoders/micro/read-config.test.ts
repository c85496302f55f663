import { describe, expect, test } from 'vitest'
import { microDecoder } from './choices.ts'
import { configJson } from './config-files.ts'
import { FAMILIES } from './decoder-config.ts'
import { readDecoderConfig } from './read-config.ts'

const LLAMA = configJson(microDecoder('llama', {}), 'float32')
const read = (changes: object) => readDecoderConfig({ ...LLAMA, ...changes }, 'config.json')

describe('configuration of a decoder', () => {
  test.each(FAMILIES)('%s: what is written is read', (family) => {
    const config = microDecoder(family, { layers: 2, ...(family === 'mistral' ? { slidingWindow: 9 } : {}) })
    const found = readDecoderConfig(configJson(config, 'float32'), 'config.json')
    expect(found).toEqual(family === 'gpt2' ? { ...config, ropeTheta: 0 } : config)
  })

  test('what is left out is as transformers takes it', () => {
    const { head_dim: _, num_key_value_heads: __, rms_norm_eps: ___, ...bare } = LLAMA
    const found = readDecoderConfig(bare, 'config.json')
    expect(found).toMatchObject({ headSize: 16, keyValueHeads: 4, epsilon: 1e-6, slidingWindow: null })
  })

  test('rotary embeddings are told in three ways', () => {
    const { rope_parameters: _, ...older } = LLAMA
    expect(read({ rope_parameters: { rope_type: 'default', rope_theta: 5e5 } }).ropeTheta).toBe(5e5)
    expect(readDecoderConfig({ ...older, rope_theta: 5e5, rope_scaling: null }, 'config.json').ropeTheta).toBe(5e5)
    expect(() => readDecoderConfig({ ...older, rope_scaling: { type: 'linear', factor: 2 } }, 'config.json')).toThrow(
      'config.json: found rope_type "linear", expected "default"; export it with optimum instead',
    )
  })

  test('a window that mistral does not mention is the one that transformers takes', () => {
    const { sliding_window: _, ...mistral } = configJson(microDecoder('mistral', {}), 'float32')
    expect(readDecoderConfig(mistral, 'config.json').slidingWindow).toBe(4096)
    expect(readDecoderConfig({ ...mistral, sliding_window: null }, 'config.json').slidingWindow).toBeNull()
  })

  const refused: readonly (readonly [object, string])[] = [
    [{ model_type: undefined }, 'model_type missing, expected one of llama, granite, mistral, gpt2'],
    [{ vocab_size: '512' }, 'vocab_size "512", expected a number above 0'],
    [{ num_hidden_layers: 1.5 }, 'num_hidden_layers takes a whole number from 1 to 16777216, found 1.5'],
    [{ tie_word_embeddings: 'no' }, 'tie_word_embeddings "no", expected true or false'],
    [{ num_key_value_heads: 3 }, 'num_key_value_heads 3 does not divide num_attention_heads 4'],
    [{ quantization_config: { bits: 4 } }, 'a quantization_config, expected plain weights'],
  ]
  test.each(refused)('%j is refused: %s', (changes, text) => {
    expect(() => read(changes)).toThrow(text)
  })
})
