import { describe, expect, test } from 'vitest'
import { compareWeights, explainWeights, type WeightTable } from './compare-weights.ts'

const facts = (sha256: string, shape = [2, 3], dtype = 'float32') => ({ dtype, shape, sha256 })
const BEFORE: WeightTable = { 'a.weight': facts('1'), 'b.weight': facts('2'), 'c.weight': facts('3') }

function explained(now: WeightTable): string | null {
  const changes = compareWeights(BEFORE, now)
  return changes.length === 0 ? null : explainWeights(changes, 3)
}

describe('weights', () => {
  test.each<[string | null, WeightTable]>([
    [null, { ...BEFORE }],
    ['weight b.weight has other content', { ...BEFORE, 'b.weight': facts('9') }],
    ['weight b.weight has the shape (3, 2), was (2, 3)', { ...BEFORE, 'b.weight': facts('2', [3, 2]) }],
    ['weight b.weight is float16, was float32', { ...BEFORE, 'b.weight': facts('2', [2, 3], 'float16') }],
    ['weight d.weight is new', { ...BEFORE, 'd.weight': facts('4') }],
    ['weight c.weight is gone', { 'a.weight': facts('1'), 'b.weight': facts('2') }],
    ['weights a.weight and c.weight are swapped', { ...BEFORE, 'a.weight': facts('3'), 'c.weight': facts('1') }],
    ['weight a.weight has the content that b.weight had', { ...BEFORE, 'a.weight': facts('2') }],
    [
      'weight a.weight has other content; 2 more of 3 weights changed',
      { 'a.weight': facts('7'), 'b.weight': facts('8'), 'c.weight': facts('9') },
    ],
    [
      'weight __proto__ is new',
      JSON.parse(`{"__proto__":{"dtype":"x","shape":[],"sha256":"1"},${JSON.stringify(BEFORE).slice(1)}`),
    ],
  ])('%s', (sentence, now) => {
    expect(explained(now)).toBe(sentence)
  })
})
