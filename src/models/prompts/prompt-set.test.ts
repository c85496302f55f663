import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadTokenizer } from '../hugging-face/tokenizer/load-tokenizer.ts'
import { folderWith, smallTokenizer } from '../testing/small-tokenizer.ts'
import { countRepeated, describeShaping } from './describe-shaping.ts'
import { openPrompts } from './open-prompts.ts'
import type { DrawRequest } from './prompt-set.ts'

// One token for each letter and one before them.
const tokenizer = await loadTokenizer(folderWith({ 'tokenizer.json': smallTokenizer() }))
const words = (...lengths: number[]) => lengths.map((length, i) => String.fromCharCode(97 + i).repeat(length - 1))

function fileWith(name: string, content: unknown): string {
  return join(folderWith({ [name]: content }), name)
}

async function draw(path: string | null, request: Partial<DrawRequest>) {
  const prompts = await openPrompts(path, tokenizer)
  return prompts.draw({ promptLength: 10, batchSize: 3, seed: 0, draw: 0, ...request })
}

const conversation = (text: string) => ({ id: 'x', conversations: [{ from: 'human', value: text }, { value: 'yes' }] })
const documentedLengths = [3, 10, 5, 8, 20, 6, 7, 4, 9, 12]
const shareGpt = fileWith('share_gpt.json', words(...documentedLengths).map(conversation))

test.each([
  [0, 'igf'],
  [1, 'gdb'],
  [2, 'gdf'],
])('draw %d of conversations is the documented sample of that seed', async (seed, first) => {
  const { prompts, fitting } = await draw(shareGpt, { draw: seed })
  expect(prompts.map(({ text }) => text[0]).join('')).toBe(first)
  expect(prompts.every(({ text, ids }) => ids.length === text.length + 1)).toBe(true)
  expect(fitting).toBe(6)
})

test('conversations of one turn, and turns without text, are no prompts', async () => {
  const path = fileWith('a.json', [
    { conversations: [{ value: 'alone' }] },
    conversation('second'),
    { conversations: [{ value: 7 }, { value: 'x' }] },
    { conversations: [] },
  ])
  expect((await draw(path, { batchSize: 1 })).prompts[0]?.text).toBe('second')
})

test('too few conversations are an error that says how many fit, or fewer where that is allowed', async () => {
  const found = '6 of the 10 prompts of share_gpt.json fit a prompt length of 10 (5 to 10 tokens), 8 are needed'
  await expect(draw(shareGpt, { batchSize: 8 })).rejects.toThrow(`${found}; use a batch size of 6 or less`)
  expect((await draw(shareGpt, { batchSize: 8, allowFewer: true })).prompts).toHaveLength(6)
})

test('no conversation that fits is an error even where fewer are allowed', async () => {
  const none = draw(shareGpt, { promptLength: 64, allowFewer: true })
  await expect(none).rejects.toThrow('none of the 10 prompts of share_gpt.json fit')
  await expect(none).rejects.toThrow('they have 3 to 20 tokens')
})

test.each([
  ['a.jsonl', '{"prompt":"abcd"}\n\n{"id":7,"text":"efgh"}\r\n"ijkl"\n', ['abcd', 'efgh', 'ijkl']],
  ['a.json', '["abcd", {"prompt": "efgh"}]', ['abcd', 'efgh']],
  ['a.txt', 'abcd\r\n   \nefgh ', ['abcd', 'efgh ']],
  ['prompts', 'abcd\nefgh\n', ['abcd', 'efgh']],
])('%s is read', async (name, content, texts) => {
  const { prompts } = await draw(fileWith(name, content), { promptLength: 6, batchSize: texts.length })
  expect(prompts.map(({ text }) => text).sort()).toEqual(texts)
})

test('a folder holds a prompt in each file, whatever its lines', async () => {
  const folder = folderWith({ 'b.txt': 'one\ntwo\n', 'a.md': 'three', '.hidden': 'no' })
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'deep', 'c.txt'), 'four')
  const { prompts } = await draw(folder, { promptLength: 8 })
  expect(prompts.map(({ text }) => text).sort()).toEqual(['four', 'one\ntwo', 'three'])
})

const mixed = fileWith('mixed.txt', words(3, 6, 8, 10, 14, 30, 4, 2).join('\n'))

test('other sources give what fits first, then cut what is longer, then join what is shorter', async () => {
  const { prompts, cut, joined, fitting } = await draw(mixed, { batchSize: 7 })
  expect(prompts.map(({ ids }) => ids.length).sort((a, b) => a - b)).toEqual([6, 8, 10, 10, 10, 10, 10])
  expect(
    prompts
      .slice(0, 3)
      .map(({ text }) => text.length + 1)
      .sort((a, b) => a - b),
  ).toEqual([6, 8, 10])
  expect(
    prompts
      .slice(3, 5)
      .map(({ text }) => text)
      .sort(),
  ).toEqual(['eeeeeeeee', 'fffffffff'])
  expect(prompts[5]?.text).toMatch(/^[agh]+\n\n[agh]+\n\n/)
  expect({ cut, joined, fitting }).toEqual({ cut: 2, joined: 2, fitting: 3 })
})

test('draws of one seed follow each other and are the same each time', async () => {
  const prompts = await openPrompts(mixed, tokenizer)
  const request = { promptLength: 10, seed: 3 }
  const [first, second] = [
    await prompts.draw({ ...request, batchSize: 2, draw: 0 }),
    await prompts.draw({ ...request, batchSize: 2, draw: 1 }),
  ]
  const both = await draw(mixed, { ...request, batchSize: 4 })
  expect([...first.prompts, ...second.prompts]).toEqual(both.prompts)
  expect(new Set(both.prompts.map(({ digest }) => digest)).size).toBe(4)
})

test('another seed gives another order', async () => {
  const order = async (seed: number) => (await draw(mixed, { seed, batchSize: 5 })).prompts.map(({ text }) => text)
  expect(await order(0)).not.toEqual(await order(1))
})

test('prompts that had to be used again are counted', async () => {
  const path = fileWith('a.txt', 'abcdefg\nhijklmn')
  const draws = [await draw(path, { draw: 0 }), await draw(path, { draw: 1 })]
  expect(draws.flatMap(({ prompts }) => prompts)).toHaveLength(6)
  expect(countRepeated(draws)).toBe(4)
  expect(describeShaping(draws, 'a.txt', 10)).toBe('of 6 prompts from a.txt: 4 the same as another')
})

test('one short prompt is enough for any length', async () => {
  const drawn = await draw(fileWith('a.txt', 'a'), { promptLength: 64, batchSize: 2 })
  expect(drawn.prompts.map(({ ids }) => ids.length)).toEqual([64, 64])
  expect([drawn.joined, countRepeated([drawn])]).toEqual([2, 1])
})

test('the plan says what was done to prompts', async () => {
  const drawn = await draw(mixed, { batchSize: 7 })
  expect(describeShaping([drawn], 'mixed.txt', 10)).toBe(
    'of 7 prompts from mixed.txt: 2 cut to 10 tokens, 2 joined from shorter ones to 10 tokens',
  )
  expect(describeShaping([await draw(mixed, {})], 'mixed.txt', 10)).toBeNull()
})

test.each([
  ['nothing', 'a.txt', '', 'a.txt holds no prompt'],
  ['an empty list', 'a.json', '[]', 'a.json holds no prompt'],
  ['an object', 'a.json', '{"a":1}', 'is not a JSON list'],
  ['a line that is no JSON', 'a.jsonl', '{"prompt":"x"}\nhello', 'a.jsonl, line 2 is not JSON: "hello"'],
  ['other keys', 'a.jsonl', '{"messages":[],"q":1}', 'holds the keys messages, q; expected {"prompt": "…"}'],
  ['a number', 'a.jsonl', '7', 'holds a number; expected'],
  ['both kinds', 'a.jsonl', '{"prompt":"x"}\n{"conversations":[]}', 'line 2 is a conversation among prompts'],
  ['zero bytes', 'a.bin', 'a\u0000b', 'is not text: it has a zero byte'],
  ['one turn', 'a.json', '[{"conversations":[{"value":"x"}]}]', 'holds no conversation of two turns or more'],
])('a source with %s is refused in plain words', async (_what, name, content, message) => {
  await expect(draw(fileWith(name, content), {})).rejects.toThrow(message)
})

test('a source that is not there is refused with what it may have been', async () => {
  const folder = folderWith({ 'prompts.jsonl': '"a"' })
  await expect(draw(join(folder, 'promts.jsonl'), {})).rejects.toThrow(`did you mean ${join(folder, 'prompts.jsonl')}?`)
})

test.each([0, -1, 1.5, Number.NaN])('a prompt length or batch size of %d is refused', async (value) => {
  await expect(draw(mixed, { promptLength: value })).rejects.toThrow(`a prompt length of ${value}, expected`)
  await expect(draw(mixed, { batchSize: value })).rejects.toThrow(`a batch size of ${value}, expected`)
})

test('tokens are counted once for a tokenizer and a content', async () => {
  const [cacheFolder, file] = [join(folderWith({}), 'deep', 'cache'), fileWith('a.txt', 'abcdefg')]
  const texts = async (used = tokenizer) => {
    const prompts = await openPrompts(file, used, { cacheFolder })
    const { prompts: drawn } = await prompts.draw({ promptLength: 10, batchSize: 1, seed: 0, draw: 0 })
    return drawn.map(({ text }) => text)
  }
  expect(await texts()).toEqual(['abcdefg'])
  const kept = readdirSync(cacheFolder)
  expect(kept).toHaveLength(1)
  writeFileSync(join(cacheFolder, kept[0]!), JSON.stringify({ places: [[0, 2, 3]], lengths: [6] }))
  expect(await texts()).toEqual(['cde'])
  writeFileSync(join(cacheFolder, kept[0]!), '{"places": [[0,')
  expect(await texts()).toEqual(['abcdefg'])
  await texts(await loadTokenizer(folderWith({ 'tokenizer.json': { ...smallTokenizer(), post_processor: null } })))
  expect(readdirSync(cacheFolder)).toHaveLength(2)
  writeFileSync(file, 'hijklmn')
  expect(await texts()).toEqual(['hijklmn'])
})

test.each([16, 32, 64, 128, 256, 2048])(
  'the bundled set gives 64 different prompts of %d tokens',
  async (promptLength) => {
    const drawn = await draw(null, { promptLength, batchSize: 64 })
    expect(countRepeated([drawn])).toBe(0)
    for (const { ids } of drawn.prompts) {
      expect(ids.length).toBeGreaterThanOrEqual(promptLength / 2)
      expect(ids.length).toBeLessThanOrEqual(promptLength)
    }
  },
)
