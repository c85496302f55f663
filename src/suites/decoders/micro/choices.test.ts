import { describe, expect, test } from 'vitest'
import { type MicroSizes, microDecoder, readFamily } from './choices.ts'
import type { Family } from './decoder-config.ts'

describe('sizes of a micro model', () => {
  test('what is left out is small and usual in its family', () => {
    expect(microDecoder('llama', {})).toMatchObject({ layers: 3, hidden: 64, heads: 4, keyValueHeads: 2, headSize: 16 })
    expect(microDecoder('llama', { heads: 1, hidden: 2 })).toMatchObject({ keyValueHeads: 1, intermediate: 8 })
    expect(microDecoder('gpt2', {})).toMatchObject({ keyValueHeads: 4, intermediate: 256, isTied: true })
    expect(microDecoder('granite', {})).toMatchObject({ attentionMultiplier: 1 / 16, logitsScaling: 16 })
    expect(microDecoder('mistral', { slidingWindow: 8 }).slidingWindow).toBe(8)
  })

  test('an odd size of heads is fine without rotary embeddings', () => {
    expect(microDecoder('gpt2', { hidden: 20 }).headSize).toBe(5)
  })

  const impossible: readonly (readonly [Family, MicroSizes, string])[] = [
    ['llama', { hidden: 65 }, '--hidden 65 is not divisible by --heads 4; give --hidden 64 or other heads'],
    ['llama', { hidden: 3 }, '--hidden 3 is not divisible by --heads 4; give --hidden 4 or other heads'],
    ['llama', { hidden: 20 }, 'a head has 5 numbers (--hidden 20 over --heads 4), but rotary embeddings turn pairs'],
    ['llama', { kvHeads: 3 }, '--kv-heads 3 does not divide --heads 4; give one of 1, 2, 4'],
    ['gpt2', { kvHeads: 2 }, '--kv-heads 2 is not --heads 4, but every head of gpt2 has keys of its own'],
    ['llama', { slidingWindow: 4 }, '--sliding-window is for mistral, found llama; leave it out'],
    ['mistral', { slidingWindow: 0 }, '--sliding-window takes a whole number from 1 to 16777216, found 0'],
    ['llama', { layers: 0 }, '--layers takes a whole number from 1 to 16777216, found 0'],
    ['llama', { layers: 1.5 }, '--layers takes a whole number from 1 to 16777216, found 1.5'],
    ['llama', { heads: 0 }, '--heads takes a whole number from 1 to 16777216, found 0'],
    ['llama', { hidden: 0 }, '--hidden takes a whole number from 1 to 16777216, found 0'],
    ['llama', { vocab: 1e12 }, '--vocab takes a whole number from 1 to 16777216, found 1000000000000'],
    [
      'llama',
      { vocab: 256 },
      '--vocab 256 is too small; give at least 257: one token for each byte and one for the end',
    ],
  ]
  test.each(impossible)('%s %j is refused: %s', (family, sizes, text) => {
    expect(() => microDecoder(family, sizes)).toThrow(text)
  })

  test('a mistyped architecture is named, with the one that was meant', () => {
    expect(() => readFamily('lama')).toThrow('unknown architecture "lama"; did you mean "llama"?')
    expect(() => readFamily('bert')).toThrow('unknown architecture "bert"; known: gpt2, granite, llama, mistral')
  })
})
