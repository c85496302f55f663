import { expect, test } from 'vitest'
import { parseStrictJson, type StrictJson } from './strict-json.ts'

const parse = (text: string) => parseStrictJson(text, 'x')
const plain = (value: StrictJson): unknown =>
  value instanceof Map
    ? Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]))
    : Array.isArray(value)
      ? value.map(plain)
      : value

test.each([
  '{}',
  '[]',
  ' {"a" : [1, -2.5e3, true, false, null, "x\\"\\\\"], "b":{"c":"\\u00e9\\n"}} ',
  '"\\\\"',
  '[[],[{}]]',
])('%s is read as JSON.parse reads it', (text) => {
  expect(plain(parse(text))).toEqual(JSON.parse(text))
})

test.each([
  '',
  '{',
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  '01',
  '"a',
  '"\n"',
  '"\\x"',
  'nul',
  '[1]]',
  '{"a" 1}',
  "{'a':1}",
  '[,]',
])('%j is refused', (text) => {
  expect(() => parse(text)).toThrow(/x is not JSON|x has extra text after its end/)
})

test('a repeated key is refused, also when written with an escape', () => {
  expect(() => parse('{"a":1,"\\u0061":2}')).toThrow('holds the key "a" twice')
})

test('deep nesting is refused before the stack ends', () => {
  expect(() => parse('['.repeat(100_000))).toThrow(/nested deeper/)
})

test('prototype keys are plain keys', () => {
  const value = parse('{"__proto__":{"polluted":true}}')
  expect(value instanceof Map && [...value.keys()]).toEqual(['__proto__'])
  expect('polluted' in {}).toBe(false)
})

test('a string of 20 MB is read', () => {
  expect(parse(JSON.stringify('é'.repeat(10_000_000)))).toHaveLength(10_000_000)
})
