import { expect, test } from 'vitest'
import { folderWith, smallTokenizer } from '../testing/small-tokenizer.ts'
import { readEndIds } from './end-ids.ts'
import { loadTokenizer } from './tokenizer/load-tokenizer.ts'

const tokenizer = await loadTokenizer(folderWith({ 'tokenizer.json': smallTokenizer() }))
const idsOf = (files: Record<string, unknown>) => readEndIds(folderWith(files), tokenizer)

test('all ids that a folder names end a sequence', async () => {
  const ids = idsOf({
    'generation_config.json': { eos_token_id: [9, 3] },
    'config.json': { eos_token_id: 5, text_config: { eos_token_id: [3, 12] } },
    'tokenizer_config.json': { eos_token: '</s>' },
  })
  expect(await ids).toEqual([3, 5, 9, 12, 261])
})

test('an end token may be written with its settings', async () => {
  expect(await idsOf({ 'tokenizer_config.json': { eos_token: { content: '</s>', lstrip: false } } })).toEqual([261])
})

test('a folder that names none has none', async () => {
  expect(await idsOf({})).toEqual([])
  const none = { 'config.json': { eos_token_id: null }, 'generation_config.json': { eos_token_id: -1 } }
  expect(await idsOf({ ...none, 'tokenizer_config.json': { eos_token: '<nowhere>' } })).toEqual([])
})

test.each([['"2"'], ['1.5'], ['[2, -3]'], ['[[2]]'], ['true']])('an eos_token_id of %s is refused', async (value) => {
  const ids = idsOf({ 'config.json': `{"eos_token_id": ${value}}` })
  await expect(ids).rejects.toThrow(/config\.json: eos_token_id is .*, expected a token id/)
})

test.each([
  ['{', 'is not JSON'],
  ['[]', 'is not a JSON object'],
])('settings that are %s are refused', async (text, message) => {
  await expect(idsOf({ 'generation_config.json': text })).rejects.toThrow(`generation_config.json ${message}`)
})
