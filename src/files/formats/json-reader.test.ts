import { expect, test } from 'vitest'
import { type JsonDialect, readJson } from './json-reader.ts'

const dialect = (isStrict: boolean): JsonDialect<string> => ({
  scalar: /\d+|NaN/y,
  readScalar: (word) => `<${word}>`,
  isStrict,
  error: (problem, at) => new Error(`${at}: ${problem}`),
})
const [strict, lenient] = [dialect(true), dialect(false)]

test('what stands outside strings is as the dialect reads it', () => {
  const members = new Map<string, unknown>([
    ['a', ['<007>', '<NaN>', '7']],
    ['b', new Map()],
  ])
  expect(readJson(' {"a": [007, NaN, "7"], "b": {}} ', strict)).toEqual(members)
})

test.each([
  ['true', '0: is not JSON'],
  ['[1 2]', '3: is not JSON: "]" was expected'],
  ['{1', '1: is not JSON: a string was expected'],
  ['{"a" 1}', '5: is not JSON: ":" was expected'],
  ['["\\x"]', '1: is not JSON: a string is malformed'],
  ['["a\\"]', '1: is not JSON: a string does not end'],
  ['1 2', '2: has extra text after its end'],
  [`${'['.repeat(40)}`, '33: is nested deeper than 32'],
])('%j is refused with its place', (text, message) => {
  for (const each of [strict, lenient]) expect(() => readJson(text, each)).toThrow(message)
})

test('a lenient dialect takes repeated keys and line ends in strings', () => {
  expect(() => readJson('{"a":1,"a":2}', strict)).toThrow('10: holds the key "a" twice')
  expect(() => readJson('"\n"', strict)).toThrow('malformed')
  expect(readJson('{"a":1,"a":"\n"}', lenient)).toEqual(new Map([['a', '\n']]))
})

test('escapes are read in both', () => {
  for (const each of [strict, lenient]) expect(readJson('"\\"\\\\\\u00e9"', each)).toBe('"\\é')
})

test('a string of backslashes and one of quotes are read in one pass', () => {
  for (const text of ['\\'.repeat(1_000_000), '"'.repeat(1_000_000)]) {
    expect(readJson(JSON.stringify(text), lenient)).toBe(text)
  }
})
