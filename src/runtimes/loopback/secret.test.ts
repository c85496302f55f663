import { expect, test } from 'vitest'
import { isSecret, newSecret } from './secret.ts'

test('every secret is another one, of 128 bits', () => {
  const secrets = Array.from({ length: 100 }, newSecret)
  expect(new Set(secrets).size).toBe(100)
  expect(secrets.every((secret) => /^[0-9a-f]{32}$/.test(secret))).toBe(true)
})

test.each([
  ['itself', 'abc', true],
  ['a part', 'ab', false],
  ['more', 'abcd', false],
  ['nothing', '', false],
  ['others', 'abd', false],
  ['as many letters of more bytes', 'äbc', false],
])('%s, given for a secret', (_, given, isRight) => {
  expect(isSecret(given, 'abc')).toBe(isRight)
})
