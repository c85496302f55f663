import { expect, test } from 'vitest'
import { hintIn } from './info-folders.ts'
import { pairsFor, type WantedPairs } from './info-pairs.ts'
import type { SavedBatch } from './refusal.ts'

const PREFIX = 'm_max-new-tokens-2_batch-size-1_seq-length-3_dtype-fp16'
const wanted: WantedPairs = {
  model: { given: 'm', name: 'm' },
  shape: { batchSize: 1, promptLength: 3, newTokens: 2 },
  batches: 2,
  dtype: undefined,
  folder: 'out',
}

function saved(device: string, index: number, tokens = [0, 4, 5, 7, 8], prefix = PREFIX): SavedBatch {
  const name = `${prefix}.${device}_validation_info.${index}.out`
  return { path: `/${name}`, name, hint: hintIn(name), content: { sequences: [{ tokens, logits: [2, 10] }] } }
}

const both = (index: number, prefix = PREFIX) => [
  saved('cpu', index, undefined, prefix),
  saved('cuda', index, undefined, prefix),
]

test('folders of both devices are paired by number, with the precision of their name', () => {
  const { dtype, pairs } = pairsFor([...both(1), ...both(0)], wanted)
  expect(dtype).toBe('fp16')
  expect(pairs.map(({ reference, follower }) => [reference.hint?.index, follower.hint?.device])).toEqual([
    [0, 'cuda'],
    [1, 'cuda'],
  ])
})

test('names that cannot be read back are taken by their sizes, and need a precision', () => {
  const hashed = [...both(0, '8b07_0.8.1'), ...both(1, '8b07_0.8.1')]
  expect(() => pairsFor(hashed, wanted)).toThrow(
    'the name 8b07_0.8.1 does not include a precision; give --default-dtype',
  )
  expect(pairsFor(hashed, { ...wanted, dtype: 'bf16' }).dtype).toBe('bf16')
})

const other = PREFIX.replace('fp16', 'bf16')
test.each([
  [
    both(0),
    `${PREFIX}.cpu_validation_info.1.out is not there, and 2 batches are asked for; --tokens-per-sequence 2 uses those before it`,
  ],
  [[...both(0), saved('cpu', 1)], `${PREFIX}.cuda_validation_info.1.out is not there`],
  [both(0, `x${PREFIX}`), `out has nothing saved of m for b1/s3/n2; it has: x${PREFIX}`],
  [
    [{ ...saved('cpu', 0, [], '8b07_0.8.1'), content: { problem: '0.pt is torn' } }],
    'it has: 8b07_0.8.1; 8b07_0.8.1.cpu_validation_info.0.out: 0.pt is torn',
  ],
  [[...both(0), ...both(0, other)], `${PREFIX} and ${other} both fit b1/s3/n2; choose one with --default-dtype`],
  [[saved('cpu', 0), saved('cuda', 0, [0, 4, 5, 7, 9])], 'was not led along'],
  [[saved('cpu', 0), saved('cuda', 0, [0, 4, 5, 7])], 'its prompts have 2 tokens, expected 3'],
])('what is missing or does not fit is named', (batches, message) => {
  expect(() => pairsFor(batches, wanted)).toThrow(message)
})
