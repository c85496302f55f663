import { expect, test } from 'vitest'
import { KeyedLock } from './keyed-lock.ts'

test('locks of one key come one after another, in order; other keys do not wait', async () => {
  const locks = new KeyedLock()
  const seen: string[] = []
  const take = async (key: string, name: string) => {
    await locks.begin(key)
    seen.push(name)
  }
  await take('a', 'first')
  const second = take('a', 'second')
  const third = take('a', 'third')
  await take('b', 'other')
  expect(seen).toEqual(['first', 'other'])
  locks.end('a')
  await second
  expect(seen).toEqual(['first', 'other', 'second'])
  locks.end('a')
  await third
  expect(seen).toEqual(['first', 'other', 'second', 'third'])
})
