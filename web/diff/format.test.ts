import { describe, expect, test } from 'vitest'
import { describeSeverity, formatShare, shortPair, worsePart } from './format.ts'

describe('a share', () => {
  test.each([
    [0, 7, '0 %'],
    [7, 7, '100 %'],
    [1, 1e9, '< 0.01 %'],
    [1e9 - 1, 1e9, '> 99.99 %'],
    [1, 8, '12.5 %'],
  ])('%d of %d is %s', (count, of, text) => expect(formatShare(count, of)).toBe(text))
})

describe('values side by side', () => {
  test.each([
    ['1.25', '1.25', ['1.25', '1.25']],
    ['0.10277402', '0.10277403', ['0.10277402', '0.10277403']],
    ['9007199254740992', '9007199254740993', ['9007199254740992', '9007199254740993']],
    ['NaN', '1.23456789', ['NaN', '1.235']],
    ['true', 'false', ['true', 'false']],
    ['1', '1.5', ['1', '1.5']],
  ])('%s and %s', (reference, target, pair) => expect(shortPair(reference, target)).toEqual(pair))

  test('with few digits where there is little room', () => {
    expect(shortPair('-0.074322864', '-0.07432286', 6)).toEqual(['-0.0743229', '-0.0743229'])
  })
})

describe('the part of a complex number that is further off', () => {
  const place = (reference: string, target: string) => ({
    tensor: 'x',
    index: [0],
    reference,
    target,
    error: 1,
    allowed: 0,
  })
  test.each([
    ['1+2i', '1+3i', 1],
    ['1-2i', '9-2i', 0],
    ['1e-7-2e-9i', '1e-7-2e-3i', 1],
    ['-1.5+NaNi', '-1.5+0i', 1],
    ['NaN+0i', '0+9i', 0],
    ['-Infinity+1i', '-Infinity+2i', 1],
  ])('%s and %s', (reference, target, part) => expect(worsePart(place(reference, target))).toBe(part))
})

test('how bad an element is, in words', () => {
  expect([0, 0.5, 1, 2, Number.POSITIVE_INFINITY, Number.NaN].map(describeSeverity)).toEqual([
    'equal',
    'within, 50 % of what is allowed',
    'within, 100 % of what is allowed',
    'over, 2 times what is allowed',
    'over, where nothing is allowed',
    'non-finite and not the same',
  ])
})
