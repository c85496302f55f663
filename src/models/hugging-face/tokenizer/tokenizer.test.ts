import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith, smallTokenizer } from '../../testing/small-tokenizer.ts'
import { loadTokenizer } from './load-tokenizer.ts'

const tokenizer = await loadTokenizer(folderWith({ 'tokenizer.json': smallTokenizer() }))

// Ids as the tokenizers package of Python gives them for the same file.
test.each([
  ['the cat', [260, 256, 68, 220, 66, 64, 83]],
  ['x</s>the', [260, 87, 261, 256, 68]],
  ['né 日\n', [260, 77, 127, 102, 220, 162, 245, 98, 198]],
  ['', [260]],
])('%j has the ids that Python gives', async (text, ids) => {
  expect(await tokenizer.encode(text)).toEqual(ids)
})

test('ids become text again, with and without special tokens', async () => {
  const ids = await tokenizer.encode('né, the 日</s>')
  expect(await tokenizer.decode(ids)).toBe('<s>né, the 日</s>')
  expect(await tokenizer.decode(ids, { special: false })).toBe('né, the 日')
  expect(await tokenizer.decode([])).toBe('')
})

test('a part of a character alone is shown as its bytes', async () => {
  const ids = await tokenizer.encode('日 the')
  expect(await tokenizer.eachPiece(ids)).toEqual(['<s>', '<0xE6>', '<0x97>', '<0xA5>', ' the'])
  expect(await tokenizer.decode(ids.slice(0, 3))).toBe('<s>\ufffd')
})

test('pieces give a character where its last byte is', async () => {
  const ids = await tokenizer.encode('a日the')
  expect(await tokenizer.pieces(ids)).toEqual(['<s>', 'a', '', '', '日', 'th', 'e'])
})

test('pieces that end within a character show that', async () => {
  expect(await tokenizer.pieces((await tokenizer.encode('a日')).slice(1, 3))).toEqual(['a', '\ufffd'])
})

test('an id that the vocabulary lacks is named, wherever it is', async () => {
  expect(await tokenizer.eachPiece([5000])).toEqual(['<id 5000>'])
  expect(await tokenizer.decode([0, 5000, 1])).toBe('!<id 5000>"')
})

test('tokens have ids', async () => {
  expect(await tokenizer.idOf('</s>')).toBe(261)
  expect(await tokenizer.idOf('<eos>')).toBeNull()
})

test('the digest is of what decides the ids', async () => {
  const load = (files: Record<string, unknown>) => loadTokenizer(folderWith(files))
  const again = await load({ 'tokenizer.json': smallTokenizer() })
  const other = await load({ 'tokenizer.json': { ...smallTokenizer(), normalizer: { type: 'Lowercase' } } })
  const settings = await load({ 'tokenizer.json': smallTokenizer(), 'tokenizer_config.json': { remove_space: true } })
  expect(again.digest).toBe(tokenizer.digest)
  expect(new Set([tokenizer.digest, other.digest, settings.digest]).size).toBe(3)
})

test('tokens of many texts are counted at once', async () => {
  expect(await tokenizer.count(['the cat', '', 'x</s>the'])).toEqual([7, 1, 5])
})

const PROMPT = 'All happy families are alike, every unhappy family is unhappy in its own way.'
const endless = { Regex: "([a-zA-Z ,.']+)+#" }

test.each([
  ['split', { pre_tokenizer: { type: 'Split', pattern: endless, behavior: 'Isolated', invert: false } }],
  ['normalise', { normalizer: { type: 'Replace', pattern: endless, content: '' } }],
])('a pattern to %s by that never ends is broken off, and nothing waits for it again', async (_what, part) => {
  const hostile = await loadTokenizer(folderWith({ 'tokenizer.json': { ...smallTokenizer(), ...part } }))
  let turns = 0
  const timer = setInterval(() => turns++, 10)
  const said = /tokenizer.json took more than 5 s for a text of 77 characters; check its patterns/
  await expect(hostile.encode(PROMPT)).rejects.toThrow(said)
  await expect(hostile.encode('a')).rejects.toThrow(said)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(1)
})

test('a text that steps make ever longer is refused', async () => {
  const longer = { type: 'Replace', pattern: { Regex: '.' }, content: 'a'.repeat(10) }
  const normalizer = { type: 'Sequence', normalizers: Array.from({ length: 9 }, () => longer) }
  const hostile = await loadTokenizer(folderWith({ 'tokenizer.json': { ...smallTokenizer(), normalizer } }))
  await expect(hostile.encode(PROMPT)).rejects.toThrow(
    'the tokenizer makes 77000 characters out of 77 before it splits them into tokens; check "normalizer" in tokenizer.json',
  )
  expect(await hostile.encode('')).toEqual([260])
})

test('a token that has no id is an error and never a guess', async () => {
  const broken = await loadTokenizer(folderWith({ 'tokenizer.json': { ...smallTokenizer(), added_tokens: [] } }))
  await expect(broken.encode('a')).rejects.toThrow('the tokenizer gives no id for "<s>"')
})

test.each([
  ['nothing', {}, 'has no tokenizer.json; copy it from where the model was published'],
  [
    'an older kind',
    { 'tokenizer.model': 'x' },
    'has no tokenizer.json, only tokenizer.model; write it with transformers',
  ],
  ['half a file', { 'tokenizer.json': '{"model":' }, 'tokenizer.json is not JSON; copy it again'],
  ['a list', { 'tokenizer.json': '[]' }, 'tokenizer.json is not a JSON object'],
  [
    'a pointer',
    { 'tokenizer.json': 'version https://git-lfs.github.com/spec/v1' },
    'is a Git LFS pointer; fetch the file',
  ],
  ['no vocabulary', { 'tokenizer.json': '{}' }, 'tokenizer.json cannot be used as a tokenizer'],
  [
    'broken settings',
    { 'tokenizer.json': smallTokenizer(), 'tokenizer_config.json': '{' },
    'tokenizer_config.json is not JSON',
  ],
])('a folder with %s says which file and what to do', async (_what, files, message) => {
  await expect(loadTokenizer(folderWith(files))).rejects.toThrow(message)
})

test('a folder in place of the file is said', async () => {
  const folder = folderWith({})
  mkdirSync(join(folder, 'tokenizer.json'))
  await expect(loadTokenizer(folder)).rejects.toThrow('tokenizer.json is not a file')
})
