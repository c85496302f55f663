import { describe, expect, test } from 'vitest'
import { UsageError } from '../../domain/errors.ts'
import { tinyCase } from '../testing/tiny-suite.ts'
import { type CaseSelection, selectCases } from './select.ts'

const CASES = [
  tinyCase('vision/det/full_model@ort-web:wasm', { aliases: ['vision/det_full_model-sim-default'] }),
  tinyCase('vision/rec/full_model[batch=2]@ort-web:wasm'),
  tinyCase('Silero/full_model@ort:cpu,threads=2'),
]
const NAMES = ['det', 'rec', 'silero']

function selected(selection: CaseSelection): string[] {
  return selectCases(CASES, selection).map((c) => NAMES[CASES.indexOf(c)]!)
}

describe('-k', () => {
  test.each([
    ['det', 'det'],
    ['DET', 'det'],
    ['silero', 'silero'],
    ['vision', 'det rec'],
    ['vision and rec', 'rec'],
    ['det or silero', 'det silero'],
    ['not vision', 'silero'],
    ['not not vision', 'det rec'],
    ['vision and not det', 'rec'],
    ['det or rec and silero', 'det'],
    ['(det or rec) and wasm', 'det rec'],
    ['(det or silero) and not (wasm or cuda)', 'silero'],
    ['not(det)', 'rec silero'],
    ['full_model[batch=2]@', 'rec'],
    ['ort:cpu,threads=2', 'silero'],
    ['sim-default', 'det'],
    ['not sim-default', 'rec silero'],
    ['nothing_like_it', ''],
    ['And', ''],
    ['', 'det rec silero'],
    ['   ', 'det rec silero'],
  ])('%j selects %j', (keyword, wanted) => {
    expect(selected({ keyword }).join(' ')).toBe(wanted)
  })

  test.each([
    ['a and', 6, 'the end', 'a word, "not" or "("'],
    ['and a', 1, '"and"', 'a word, "not" or "("'],
    ['a b', 3, '"b"', '"and", "or" or the end'],
    ['(a', 3, 'the end', '"and", "or" or ")"'],
    ['a)', 2, '")"', '"and", "or" or the end'],
    ['()', 2, '")"', 'a word, "not" or "("'],
    ['a or or b', 6, '"or"', 'a word, "not" or "("'],
    ['not', 4, 'the end', 'a word, "not" or "("'],
  ])('%j is refused with its place', (keyword, column, found, wanted) => {
    const error = new UsageError(
      'keyword',
      `-k ${JSON.stringify(keyword)}: found ${found} at column ${column}, expected ${wanted}`,
    )
    expect(() => selected({ keyword })).toThrow(error)
  })

  test('endless nesting is refused, endless words are not', () => {
    expect(() => selected({ keyword: `${'('.repeat(5000)}a${')'.repeat(5000)}` })).toThrow(/nested/)
    expect(selected({ keyword: `${'not '.repeat(20_001)}vision` })).toEqual(['silero'])
    expect(selected({ keyword: `${'x or '.repeat(20_000)}silero` })).toEqual(['silero'])
  })
})

describe('-t', () => {
  test.each([
    ['^vision/.*wasm$', 'det rec'],
    ['batch=\\d', 'rec'],
    ['^silero', ''],
    ['sim-default$', 'det'],
  ])('%j selects %j', (pattern, wanted) => {
    expect(selected({ pattern }).join(' ')).toBe(wanted)
  })

  test('what is no regular expression is refused', () => {
    expect(() => selected({ pattern: 'a(' })).toThrow(/-t "a\(": .*Unterminated group.*write a JavaScript/)
  })
})

test('all conditions must hold', () => {
  expect(selected({ keyword: 'vision', pattern: 'batch' })).toEqual(['rec'])
})
