import { expect, test } from 'vitest'
import { compareModels, modelDigestsIn, withModelDigests } from './model-digests.ts'

test.each([
  ['the same weights', { 'config.json': 'c', 'model.safetensors': 'w' }, { differs: null, isSame: true }],
  [
    'the same and more',
    { 'config.json': 'c', 'model.safetensors': 'w', 'x.onnx': 'x' },
    { differs: null, isSame: true },
  ],
  ['other weights', { 'config.json': 'c', 'model.safetensors': 'v' }, { differs: 'model.safetensors', isSame: false }],
  [
    'another configuration',
    { 'config.json': 'd', 'model.safetensors': 'w' },
    { differs: 'config.json', isSame: false },
  ],
  ['only the configuration in common', { 'config.json': 'c', 'x.onnx': 'x' }, { differs: null, isSame: false }],
  ['nothing that is known', {}, { differs: null, isSame: false }],
])('%s', (_what, other, likeness) => {
  const one = { 'config.json': 'c', 'model.safetensors': 'w' }
  expect(compareModels(one, other)).toEqual(likeness)
  expect(compareModels(other, one)).toEqual(likeness)
})

test('digests of a model stand among others', () => {
  const model = { 'config.json': 'c', 'onnx/model.onnx': 'x' }
  expect(modelDigestsIn({ tokenizer: 't', 'config.json': 'none of ours', ...withModelDigests(model) })).toEqual(model)
})
