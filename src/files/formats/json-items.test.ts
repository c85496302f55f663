import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CHUNK_BYTES } from '../disk/read-range.ts'
import { jsonItems } from './json-items.ts'
import { lineItems } from './line-items.ts'

function fileWith(text: string): [path: string, byteLength: number] {
  const path = join(mkdtempSync(join(tmpdir(), 'assay items ')), 'list')
  writeFileSync(path, text)
  return [path, Buffer.byteLength(text)]
}

async function itemsOf(text: string): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const { bytes } of jsonItems(...fileWith(text))) items.push(JSON.parse(Buffer.from(bytes).toString()))
  return items
}

test.each([
  '[]',
  ' [ ] ',
  '[1]',
  '[ 1 , "a" ,null,true ]\n',
  '[{"a":[1,{"b":"]}"}]},[[]],"x"]',
  String.raw`["a\"]","\\","é\u0041日"]`,
])('%s is taken apart as it was put together', async (text) => {
  expect(await itemsOf(text)).toEqual(JSON.parse(text))
})

test('elements lie where they say, also over the borders of what is read at once', async () => {
  const elements = [{ a: 'x'.repeat(CHUNK_BYTES - 10) }, { b: 'é]"\\'.repeat(CHUNK_BYTES / 4) }, { c: 1 }]
  const text = JSON.stringify(elements)
  const bytes = Buffer.from(text)
  const found: unknown[] = []
  for await (const item of jsonItems(...fileWith(text))) {
    expect(bytes.subarray(item.offset, item.offset + item.bytes.length).equals(item.bytes)).toBe(true)
    found.push(JSON.parse(Buffer.from(item.bytes).toString()))
  }
  expect(found).toEqual(elements)
})

test('a byte order mark before the list is passed over', async () => {
  expect(await itemsOf('\ufeff[1]')).toEqual([1])
})

test.each([
  ['', 'ends before its list does'],
  ['[1, {"a": 2}', 'ends before its list does'],
  ['["a', 'ends before its list does'],
  ['{"a": 1}', 'is not a JSON list: it does not begin with ['],
  ['[1] 2', 'has extra text after its list'],
])('%j is refused', async (text, message) => {
  await expect(itemsOf(text)).rejects.toThrow(message)
})

async function linesOf(text: string): Promise<[number, string][]> {
  const lines: [number, string][] = []
  for await (const { offset, bytes } of lineItems(...fileWith(text)))
    lines.push([offset, Buffer.from(bytes).toString()])
  return lines
}

test('lines come with their places, the last one with or without an end', async () => {
  expect(await linesOf('é\n\nb')).toEqual([
    [0, 'é'],
    [3, ''],
    [4, 'b'],
  ])
  expect(await linesOf('a\n')).toEqual([[0, 'a']])
  expect(await linesOf('')).toEqual([])
})

test('a line over the border of what is read at once is one line', async () => {
  const long = 'y'.repeat(CHUNK_BYTES + 5)
  expect(await linesOf(`a\n${long}\nb`)).toEqual([
    [0, 'a'],
    [2, long],
    [long.length + 3, 'b'],
  ])
})
