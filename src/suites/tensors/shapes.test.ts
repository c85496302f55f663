import { describe, expect, test } from 'vitest'
import { bindShapes, parseDims, shapeSuffix } from './shapes.ts'

describe('shapes', () => {
  test('several sizes of two dimensions make every combination', () => {
    const bindings = bindShapes([{ match: '**', dims: parseDims(['batch=1,2', 'seq=8']) }], 'm')
    expect(bindings.map(shapeSuffix)).toEqual(['[batch=1,seq=8]', '[batch=2,seq=8]'])
  })

  test('a rule for another model does not apply, and a later rule wins', () => {
    const rules = [
      { match: '**', dims: { n: [1] } },
      { match: 'ocr/*', dims: { n: [3] } },
    ]
    expect(bindShapes(rules, 'ocr/det')).toEqual([{ n: 3 }])
    expect(bindShapes(rules, 'vad')).toEqual([{ n: 1 }])
  })

  test.each(['batch', 'batch=x', '=3', 'batch=1.5', 'batch=-1'])('refuses %s', (text) => {
    expect(() => parseDims([text])).toThrow(/name=size/)
  })
})
