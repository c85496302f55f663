import { describe, expect, test } from 'vitest'
import { byteTokenizer, SMALLEST_VOCABULARY } from './byte-tokenizer.ts'

interface BpeModel {
  readonly vocab: Readonly<Record<string, number>>
  readonly merges: readonly (readonly [string, string])[]
}

const modelOf = (vocabulary: number) => (byteTokenizer(vocabulary) as { model: BpeModel }).model

describe('byte tokenizer', () => {
  test('every byte has a character of its own, as GPT-2 writes them', () => {
    const { vocab, merges } = modelOf(SMALLEST_VOCABULARY)
    expect(Object.values(vocab).sort((a, b) => a - b)).toEqual(Array.from({ length: 257 }, (_, i) => i))
    expect(merges).toEqual([])
    expect([vocab['<|endoftext|>'], vocab.a, vocab.Ġ, vocab.Ċ, vocab.Ń, vocab.ÿ]).toEqual([
      0,
      1 + 0x61,
      1 + 0x20,
      1 + 0x0a,
      1 + 0xad,
      1 + 0xff,
    ])
  })

  test('a vocabulary has exactly as many tokens as asked for, each made of two that come before it', () => {
    for (const size of [258, 512, 257 + 26 * 26, 257 + 26 * 26 + 1, 20_000]) {
      const { vocab, merges } = modelOf(size)
      expect(Object.keys(vocab)).toHaveLength(size)
      const isMade = merges.every(([a, b]) => vocab[a]! < vocab[a + b]! && vocab[b]! < vocab[a + b]!)
      expect(isMade).toBe(true)
    }
  })
})
