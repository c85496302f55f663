import { expect, test } from 'vitest'
import { splitIntoChunks } from './chunks.ts'

const limit = { sizeOf: (value: string) => value.length, most: 10 }

test.each<[readonly string[][], string[][]]>([
  [[], []],
  [[['a'], ['bb'], ['ccc']], [['a', 'bb', 'ccc']]],
  [
    [['aaaa'], ['bbbb'], ['cccc']],
    [['aaaa', 'bbbb'], ['cccc']],
  ],
  [
    [['a'], ['b'.repeat(20)], ['c']],
    [['a'], ['b'.repeat(20)], ['c']],
  ],
  // A value that two items share is counted and given once in a chunk, but again in the next chunk.
  [
    [
      ['xxxx', 'y'],
      ['xxxx', 'z'],
      ['xxxx', 'wwwww'],
    ],
    [
      ['xxxx', 'y', 'z'],
      ['xxxx', 'wwwww'],
    ],
  ],
])('%j in chunks of 10', (items, chunks) => {
  const found = splitIntoChunks(items, (item) => item, limit)
  expect(found.map(({ values }) => [...values])).toEqual(chunks)
  expect(found.flatMap((chunk) => chunk.items)).toEqual(items)
})
