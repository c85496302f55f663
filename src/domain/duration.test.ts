import { expect, test } from 'vitest'
import { parseSeconds } from './duration.ts'

test('times have a unit, or are seconds', () => {
  expect(['90', '500ms', '20s', '5min', '2m', '1h', ' 1.5 S '].map(parseSeconds)).toEqual([
    90, 0.5, 20, 300, 120, 3600, 1.5,
  ])
})

test.each(['', 'soon', '5 parsecs', '-1s', '1e999', 'NaN', '5min20s'])('"%s" is no time', (text) => {
  expect(parseSeconds(text)).toBeNull()
})
