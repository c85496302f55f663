import { expect, test } from 'vitest'
import { isAtLeast } from './machine.ts'

test.each([
  ['20.19.0', '20.19', true],
  ['20.18.9', '20.19', false],
  ['22.0.0', '20.19', true],
  ['18.20.1', '20.19', false],
  ['20.19.0', '20.19.1', false],
])('Node %s is at least %s: %s', (version, needed, is) => {
  expect(isAtLeast(version, needed)).toBe(is)
})
