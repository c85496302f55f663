import { expect, test } from 'vitest'
import { remembered } from './remembered.ts'

test('work is done once for all who ask while it is known, and the oldest over the limit is forgotten', async () => {
  const known = new Map<string, Promise<string>>()
  let done = 0
  const ask = (key: string) => remembered(known, key, async () => `${key} ${++done}`, 2)
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a 1', 'a 1', 'b 2'])
  expect(await ask('c')).toBe('c 3')
  expect(await ask('b')).toBe('b 2')
  expect(await ask('a')).toBe('a 4')
})

test('what failed fails for all who asked, and is done again by whoever asks next', async () => {
  const known = new Map<string, Promise<number>>()
  let tries = 0
  const ask = () =>
    remembered(known, 'key', async () => {
      if (++tries === 1) throw new Error('not now')
      return tries
    })
  const [first, second] = await Promise.allSettled([ask(), ask()])
  expect([first.status, second.status]).toEqual(['rejected', 'rejected'])
  expect(await ask()).toBe(2)
})
