import { describe, expect, test } from 'vitest'
import type { DType } from '../../domain/dtype.ts'
import type { ValueSpec } from '../../domain/tensor.ts'
import { decoderPorts } from './ports.ts'

const value = (name: string, shape: ValueSpec['shape'], dtype: DType | null = 'float32'): ValueSpec => {
  return { name, kind: 'tensor', dtype, shape }
}
const IDS = value('input_ids', ['batch', 'sequence'], 'int64')
const LOGITS = value('logits', ['batch', 'sequence', 100])

const ports = (inputs: readonly ValueSpec[], outputs: readonly ValueSpec[]) =>
  decoderPorts([IDS, ...inputs], [LOGITS, ...outputs])

describe('a cache is recognised', () => {
  const shape = ['batch', 4, 'past', 16]
  test.each([
    ['past_key_values.0.key', 'present.0.key'],
    ['past_key_values.11.decoder.value', 'present.11.decoder.value'],
    ['past_key_values.0.key', 'present_key_values.0.key'],
    ['past_key_0', 'present_key_0'],
    ['past_key_self_0', 'present_key_self_0'],
    ['past_0', 'present_0'],
    ['key_cache.3', 'key_cache_out.3'],
    ['cache_k_0_in', 'cache_k_0_out'],
  ])('%s goes on as %s', (past, present) => {
    const others = [value('present.7.key', shape), value('present.7.value', shape), value('hidden', ['batch', 'n', 64])]
    const { caches } = ports([value(past, shape)], [...others, value(present, shape)])
    expect(caches.map((cache) => [cache.past, cache.present, cache.emptyShape(3)])).toEqual([
      [past, present, [3, 4, 0, 16]],
    ])
  })

  test.each<[string, ValueSpec['shape'], number[]]>([
    ['keys and values together', [2, 'batch_size', 4, 'past_sequence_length', 16], [2, 3, 4, 0, 16]],
    ['positions before sequences', ['past_length', 'batch', 4, 16], [0, 3, 4, 16]],
    ['one query head', ['batch', 'past', 32], [3, 0, 32]],
    ['names that are unknown', [null, 4, null, 16], [3, 4, 0, 16]],
    ['a fixed batch', [1, 4, 'past_sequence_length', 16], [1, 4, 0, 16]],
    ['a sum', ['batch', 4, 'past_sequence_length + sequence_length', 16], [3, 4, 0, 16]],
  ])('with %s', (_, shape_, empty) => {
    const { caches } = ports([value('past.0', shape_)], [value('present.0', shape_)])
    expect(caches[0]!.emptyShape(3)).toEqual(empty)
  })
})

test.each<[string, ValueSpec['shape'], string]>([
  ['heads of unknown number', ['batch', 'heads', 'past', 'size'], '(batch, heads, past, size)'],
  ['sequences times heads', ['batch_size x num_heads', 16, 'past'], '(batch_size x num_heads, 16, past)'],
  ['a fixed length', [1, 4, 512, 16], '(1, 4, 512, 16)'],
  ['only the batch open', ['batch', 4, 512, 16], '(batch, 4, 512, 16)'],
])('a cache of %s is refused', (_, shape, told) => {
  expect(() => ports([value('past.0', shape)], [value('present.0', shape)])).toThrow(
    `input "past.0" has shape ${told}, expected a cache in which only the number of sequences and that of positions are open`,
  )
})

describe('a model is refused', () => {
  const cache = ['batch', 4, 'past', 16]
  test.each<[string, ValueSpec[], ValueSpec[], string]>([
    [
      'without input_ids',
      [value('tokens', ['b', 's'], 'int64')],
      [LOGITS],
      'the model has no input "input_ids"; it takes "tokens"',
    ],
    [
      'without logits',
      [IDS],
      [value('last_hidden_state', ['b', 's', 64])],
      'no output is the logits; the model gives "last_hidden_state"',
    ],
    [
      'with two kinds of logits',
      [IDS],
      [value('a_logits', null), value('b_logits', null)],
      'several outputs could be the logits; the model gives "a_logits", "b_logits"',
    ],
    [
      'whose ids are floats',
      [value('input_ids', ['b', 's'])],
      [LOGITS],
      'input "input_ids" is float32 (b, s), expected int64 or int32 with 2 dimensions',
    ],
    [
      'whose mask has four dimensions',
      [IDS, value('attention_mask', ['b', 1, 's', 't'])],
      [LOGITS],
      'input "attention_mask" is float32 (b, 1, s, t), expected int64 or int32 or float32 or bool with 2 dimensions',
    ],
    [
      'that needs an encoder',
      [IDS, value('encoder_hidden_states', ['b', 'e', 64])],
      [LOGITS],
      'the model goes on from what an encoder made ("encoder_hidden_states"); only models that are a decoder alone',
    ],
    [
      'that caches what an encoder made',
      [IDS, value('past.0.encoder.key', cache)],
      [LOGITS, value('present.0.encoder.key', cache)],
      'the model goes on from what an encoder made ("past.0.encoder.key")',
    ],
    [
      'whose cache no output continues',
      [IDS, value('past.0', cache)],
      [LOGITS, value('present.1', cache)],
      'nothing is known to fill "past.0" float32 (batch, 4, past, 16) with',
    ],
    [
      'whose cache changes its dtype',
      [IDS, value('past.0', cache)],
      [LOGITS, value('present.0', cache, 'float16')],
      'nothing is known to fill "past.0"',
    ],
    ['of which nothing is told', [value('input_ids', null, null)], [LOGITS], 'onnxruntime says it from 1.21 on'],
  ])('%s', (_, inputs, outputs, message) => {
    expect(() => decoderPorts(inputs, outputs)).toThrow(message)
  })

  test('with two outputs that both could go on', () => {
    const outputs = [value('present.0', cache), value('new_0', cache)]
    expect(() => ports([value('past.0', cache)], outputs)).toThrow('nothing is known to fill "past.0"')
  })

  test('and hundreds of names are not listed', () => {
    const outputs = Array.from({ length: 200 }, (_, i) => value(`present.${i}`, cache))
    expect(() => ports([value('odd', ['b'])], outputs)).toThrow(/and 195 more$/)
  })
})

test('what else a decoder takes is told by name', () => {
  const found = ports(
    [
      value('attention_mask', ['b', 't'], 'int32'),
      value('position_ids', ['b', 's'], 'int64'),
      value('use_cache_branch', [1], 'bool'),
      value('num_logits_to_keep', [], 'int64'),
    ],
    [],
  )
  expect(found).toMatchObject({
    ids: { name: 'input_ids', dtype: 'int64', rank: 2 },
    mask: { name: 'attention_mask', dtype: 'int32' },
    positions: { name: 'position_ids' },
    branch: { name: 'use_cache_branch', rank: 1 },
    keep: { name: 'num_logits_to_keep', rank: 0 },
    caches: [],
    logits: 'logits',
    vocabulary: 100,
  })
})
