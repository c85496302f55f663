import { expect, test } from 'vitest'
import { describeUnknown, nearest, suggest, suggestWord } from './suggest.ts'

test('two letters that were swapped are one mistake', () => {
  expect(nearest('otr', ['ort', 'recorded'])).toBe('ort')
  expect(nearest('ortweb', ['ort', 'ort-web'])).toBe('ort-web')
  expect(nearest('xyz', ['ort', 'ort-web'])).toBeNull()
  expect(nearest('ort'.repeat(10_000_000), ['ort', 'ort-web'])).toBeNull()
})

test('a similar word is suggested, otherwise the known ones are listed or other advice is given', () => {
  expect(suggestWord('otr', ['ort', 'recorded'])).toBe('did you mean "ort"?')
  expect(suggestWord('xyz', ['recorded', 'ort'])).toBe('known: ort, recorded')
  expect(suggestWord('xyz', ['ort'], 'it takes ort')).toBe('it takes ort')
  expect(describeUnknown('runtime "otr"', 'otr', ['ort'])).toBe('unknown runtime "otr"; did you mean "ort"?')
})

test('a suggested word is inert', () => {
  expect(suggestWord('loss', ['los\u202es'])).toBe('did you mean "los\\u202es"?')
})

test('what was found in another way is suggested as it is written', () => {
  expect(suggest('models/a.onnx')).toBe('did you mean models/a.onnx?')
  expect(suggest(null, 'give a file')).toBe('give a file')
})
