import { describe, expect, test } from 'vitest'
import { forgetOldest, remember, rememberSuccess } from './remember.ts'

/** Fails the first time, then gives how often it was tried. */
function failingFirst() {
  let tries = 0
  return async () => {
    if (++tries === 1) throw new Error('not now')
    return tries
  }
}

function deferred() {
  let settle!: { resolve: (value: number) => void; reject: (error: Error) => void }
  const promise = new Promise<number>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, ...settle }
}

const statuses = async (...asked: Promise<unknown>[]) => (await Promise.allSettled(asked)).map(({ status }) => status)

test('a value is made once for each key', () => {
  const known = new Map<string, { readonly number: number }>()
  let made = 0
  const ask = (key: string) => remember(known, key, () => ({ number: ++made }))
  expect([ask('a'), ask('a'), ask('b'), ask('a')].map(({ number }) => number)).toEqual([1, 1, 2, 1])
})

test('keys may be objects that nobody else holds', () => {
  const known = new WeakMap<object, string[]>()
  const [one, other] = [{}, {}]
  remember(known, one, () => []).push('first')
  remember(known, one, () => []).push('second')
  expect(remember(known, one, () => [])).toEqual(['first', 'second'])
  expect(remember(known, other, () => [])).toEqual([])
})

test('whoever asks while a promise is pending gets the same one', async () => {
  for (const share of [remember<string, Promise<number>>, rememberSuccess<string, number>]) {
    const known = new Map<string, Promise<number>>()
    const { promise, resolve } = deferred()
    const first = share(known, 'key', () => promise)
    const second = share(known, 'key', () => Promise.reject(new Error('asked twice')))
    resolve(7)
    expect(await Promise.all([first, second, share(known, 'key', async () => 8)])).toEqual([7, 7, 7])
  }
})

describe('a failure', () => {
  test('stays with remember', async () => {
    const known = new Map<string, Promise<number>>()
    const make = failingFirst()
    const ask = () => remember(known, 'key', make)
    expect(await statuses(ask(), ask())).toEqual(['rejected', 'rejected'])
    expect(await statuses(ask())).toEqual(['rejected'])
  })

  test('goes to all who wait with rememberSuccess, and whoever asks next tries again', async () => {
    const known = new Map<string, Promise<number>>()
    const make = failingFirst()
    const ask = () => rememberSuccess(known, 'key', make)
    expect(await statuses(ask(), ask())).toEqual(['rejected', 'rejected'])
    expect(await Promise.all([ask(), ask()])).toEqual([2, 2])
  })

  test('does not take away what was made since its own value was forgotten', async () => {
    const known = new Map<string, Promise<number>>()
    const { promise, reject } = deferred()
    const failing = rememberSuccess(known, 'key', () => promise)
    forgetOldest(known, 0)
    rememberSuccess(known, 'key', async () => 1)
    reject(new Error('too late'))
    expect(await statuses(failing)).toEqual(['rejected'])
    expect(await rememberSuccess(known, 'key', async () => 2)).toBe(1)
  })
})

test('the oldest over the limit are forgotten', async () => {
  const known = new Map<string, Promise<string>>()
  let made = 0
  const ask = (key: string) => {
    const value = rememberSuccess(known, key, async () => `${key} ${++made}`)
    forgetOldest(known, 2)
    return value
  }
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a 1', 'a 1', 'b 2'])
  expect(await ask('c')).toBe('c 3')
  expect(await ask('b')).toBe('b 2')
  expect(await ask('a')).toBe('a 4')
})
