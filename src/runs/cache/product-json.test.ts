import { describe, expect, test } from 'vitest'
import { decodeProduct, encodeProduct } from './product-json.ts'

const roundTrip = (value: unknown) => decodeProduct(JSON.parse(JSON.stringify(encodeProduct(value))))

describe('values of products', () => {
  test.each([
    ['numbers JSON cannot hold', [Number.NaN, Infinity, -Infinity, -0, 0, 1.5]],
    ['texts that look like them', ['NaN', 'Infinity', '-0']],
    ['64-bit integers', { big: 9007199254740993n }],
    ['nothing', undefined],
    ['null and booleans', [null, true, false]],
    ['objects that look like our marks', [{ $number: 'NaN' }, { $plain: { $plain: 1 } }, { $bigint: '1', more: 2 }]],
    ['keys of models', JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}')],
    ['nesting', { a: [{ b: { c: [Number.NaN] } }] }],
  ])('%s come back as they were', (_what, value) => {
    expect(roundTrip(value)).toStrictEqual(value)
  })

  test('a property that is undefined is left out', () => {
    expect(roundTrip({ a: undefined, b: 1 })).toStrictEqual({ b: 1 })
  })

  test.each([new Map(), new Float32Array(2), new Date(), () => 1, Symbol('x')])(
    '%s is refused, not flattened',
    (value) => {
      expect(() => encodeProduct({ value })).toThrow(/give plain data/)
    },
  )
})
