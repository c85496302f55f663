import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

test('turns of one key come one after another, in order; other keys do not wait', async () => {
  const turns = new Turns()
  const seen: string[] = []
  const take = async (key: string, name: string) => {
    await turns.begin(key)
    seen.push(name)
  }
  await take('a', 'first')
  const second = take('a', 'second')
  const third = take('a', 'third')
  await take('b', 'other')
  expect(seen).toEqual(['first', 'other'])
  turns.end('a')
  await second
  expect(seen).toEqual(['first', 'other', 'second'])
  turns.end('a')
  await third
  expect(seen).toEqual(['first', 'other', 'second', 'third'])
})
