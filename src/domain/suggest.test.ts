import { expect, test } from 'vitest'
import { nearest } from './suggest.ts'

test('two letters that were swapped are one mistake', () => {
  expect(nearest('otr', ['ort', 'recorded'])).toBe('ort')
  expect(nearest('ortweb', ['ort', 'ort-web'])).toBe('ort-web')
  expect(nearest('xyz', ['ort', 'ort-web'])).toBeNull()
  expect(nearest('ort'.repeat(10_000_000), ['ort', 'ort-web'])).toBeNull()
})
