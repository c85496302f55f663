import { expect, test } from 'vitest'
import { hintIn } from './info-folders.ts'
import { explainRefusal, type SavedBatch, type WantedBatch } from './refusal.ts'

const PREFIX = 'org--model_max-new-tokens-2_batch-size-1_seq-length-3_dtype-fp16'
const wanted: WantedBatch = {
  model: { given: 'org/model', name: 'org/model', vocabulary: 10 },
  ids: [[0, 4, 5]],
  newTokens: 2,
}

function saved(tokens: number[], logits: [number, number] | null = [2, 10], name = 'renamed'): SavedBatch {
  return { path: `/${name}`, name, hint: hintIn(name), content: { sequences: [{ tokens, logits }] } }
}

test('what has exactly these prompts belongs, also with more new tokens than asked for', () => {
  expect(explainRefusal(saved([0, 4, 5, 7, 8]), wanted)).toBeNull()
  expect(explainRefusal(saved([0, 4, 5, 7, 8, 9], [3, 10]), wanted)).toBeNull()
  expect(explainRefusal(saved([0, 4, 5, 7, 8], [2, 10], `${PREFIX}.cpu_validation_info.0.out`), wanted)).toBeNull()
})

test.each([
  [saved([0, 4, 6, 7, 8]), 'its prompts are different (sequence 0, token 2: 6 instead of 5)'],
  [saved([4, 5, 7, 8]), 'its prompts have 2 tokens, those of the batch 3'],
  [saved([0, 4, 5, 7], [1, 10]), 'it has 1 new tokens, 2 are asked for'],
  [saved([0, 4, 5, 7, 8], [2, 12]), 'it has 12 logits for each token, the model has 10'],
  [saved([0, 4, 5, 7, 8], null), 'it holds tokens but no logits'],
  [{ ...saved([]), content: { sequences: [] } }, 'it has 0 sequences, the batch has 1'],
  [{ ...saved([]), content: { problem: '0.pt is torn' } }, '0.pt is torn'],
  [
    saved([0, 4, 5, 7, 8], [2, 10], `${PREFIX.replace('model', 'model-big')}.cpu_validation_info.0.out`),
    'its name says org--model-big',
  ],
])('what differs is refused, and how is said', (batch, why) => {
  expect(explainRefusal(batch, wanted)?.why).toBe(why)
})

test('a folder of another place is the same model', () => {
  const local = { ...wanted, model: { given: '/here/models/m', name: 'm', vocabulary: null } }
  const named = (prefix: string) => saved([0, 4, 5, 7, 8], [2, 10], `${prefix}.cpu_validation_info.0.out`)
  const shape = '_max-new-tokens-2_batch-size-1_seq-length3_dtype-fp16'
  expect(explainRefusal(named(`--tmp--models--m${shape}`), local)).toBeNull()
  expect(explainRefusal(named(`--tmp--models--m-big${shape}`), local)?.why).toBe('its name says --tmp--models--m-big')
  expect(explainRefusal(named('8b073d6445a1_0.8.1'), local)).toBeNull()
})
