import { expect, test } from 'vitest'
import { z } from 'zod'
import { jsonNumber, jsonNumberOrNull, readShape } from './json-shape.ts'

const shape = z.strictObject({ name: z.string(), values: z.array(jsonNumber), worst: jsonNumberOrNull.optional() })
const refuse = (problem: string) => new Error(`x: ${problem}`)

test('numbers that JSON has no word for are read', () => {
  const value = { name: 'a', values: [1, 'NaN', '-Infinity'], worst: null }
  expect(readShape(shape, value, refuse)).toEqual({ ...value, values: [1, Number.NaN, -Infinity] })
})

test.each([
  [{ name: 1, values: [] }, 'x: name: Invalid input: expected string, received number'],
  [{ name: 'a', values: [1, 'much'] }, 'x: values.1: found "much" where a number belongs'],
  [{ name: 'a' }, 'x: values: Invalid input: expected array, received undefined'],
  [{ name: 'a', values: [], more: 1 }, 'x: Unrecognized key: "more"'],
  [null, 'x: Invalid input: expected object, received null'],
])('of %j the place and the problem are said', (value, message) => {
  expect(() => readShape(shape, value, refuse)).toThrow(new Error(message))
})

test('the place begins where the value lies, and cannot steer a terminal', () => {
  expect(() => readShape(z.array(z.string()), [1], refuse, ['models'])).toThrow('x: models.0: ')
  const record = z.record(z.string(), z.string())
  expect(() => readShape(record, { '\u001b[2J': 1 }, refuse)).toThrow('x: \\x1b[2J: Invalid input')
})
