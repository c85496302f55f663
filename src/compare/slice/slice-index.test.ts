import { expect, test } from 'vitest'
import { checkSlice, chooseSlice, formatSlice, parseSlice, type SliceIndex } from './slice-index.ts'

const SHAPE = [2, 3, 4, 5]

test('a slice is read and written', () => {
  expect(parseSlice('1, :,:,-1', SHAPE)).toEqual([1, null, null, 4])
  expect(parseSlice('0,0,0,:', SHAPE)).toEqual([0, 0, 0, null])
  expect(formatSlice([1, null, null, 4])).toBe('[1, :, :, 4]')
})

test('the last two axes with more than one index are chosen, if there are any', () => {
  expect(chooseSlice([1, 2, 3, 4], SHAPE)).toEqual([1, 2, null, null])
  expect(chooseSlice([1, 0, 3, 0], [2, 1, 4, 1])).toEqual([null, 0, null, 0])
  expect(chooseSlice([0, 3], [1, 4])).toEqual([0, null])
  expect(chooseSlice([0, 0], [1, 1])).toBeNull()
})

test.each([
  ['0,:,:', 'has 3 parts for the 4 axes'],
  ['0,0,0,0', 'shows 0 axes'],
  [':,:,:,0', 'shows 3 axes'],
  ['2,0,:,:', 'has "2" for axis 0, expected 0 to 1 for a tensor'],
  ['0,x,:,:', 'has "x" for axis 1'],
])('--slice %s is refused: it %s', (text, why) => {
  expect(() => parseSlice(text, SHAPE)).toThrow(why)
})

test.each<[string, SliceIndex, string]>([
  [
    'three free axes',
    [null, null, null],
    'slice :,:,: shows 3 axes, expected one or two of a tensor of shape (2, 3, 4)',
  ],
  ['an index outside', [2, null, null], 'slice 2,:,: has "2" for axis 0, expected 0 to 1 for a tensor'],
  ['a negative one', [-1, null, null], 'has "-1" for axis 0'],
  ['a fraction', [0.5, null, null], 'has "0.5" for axis 0'],
  ['too few axes', [0, null], 'slice 0,: has 2 parts for the 3 axes of shape (2, 3, 4); give one such as 0,:,:'],
])('an index is refused for %s', (_, index, why) => {
  expect(() => checkSlice(index, [2, 3, 4])).toThrow(why)
})

test('a single element is a slice', () => {
  expect(() => checkSlice([1, 2], [2, 3])).not.toThrow()
  expect(() => checkSlice([], [])).not.toThrow()
})
