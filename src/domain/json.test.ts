import { expect, test } from 'vitest'
import { isObject, numberFromJson, toJson } from './json.ts'

test('numbers that JSON has no word for survive a round trip', () => {
  const text = toJson({ a: Number.NaN, b: -Infinity, c: 2n ** 63n, d: 0.1 })
  expect(text).toBe('{"a":"NaN","b":"-Infinity","c":"9223372036854775808","d":0.1}')
  const read = JSON.parse(text) as Record<string, unknown>
  expect([numberFromJson(read.a), numberFromJson(read.b), numberFromJson(read.d)]).toEqual([Number.NaN, -Infinity, 0.1])
  expect(numberFromJson('twelve')).toBeNull()
})

test('neither a list nor null is an object', () => {
  expect([{}, { a: 1 }, [], null, undefined, 'a', 1].map(isObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
})
