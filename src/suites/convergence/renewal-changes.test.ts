import { expect, test } from 'vitest'
import type { Recording } from '../../domain/convergence.ts'
import { renewalChanges } from './renewal-changes.ts'

const losses = (...texts: readonly string[]): Recording =>
  new Map(texts.map((text, step) => [step, { loss: { '0': text } }]))

test.each([
  ['2', '2.2', 'loss: 2 → 2.2 (+10 %) at step 0, 1 of 1 steps changed'],
  ['-2', '-2.2', 'loss: -2 → -2.2 (−10 %) at step 0, 1 of 1 steps changed'],
  ['1_000', '1_100', 'loss: 1000 → 1100 (+10 %) at step 0, 1 of 1 steps changed'],
  ['0', '0.5', 'loss: 0 → 0.5 at step 0, 1 of 1 steps changed'],
  ['1e-320', '1', 'loss: 1e-320 → 1 at step 0, 1 of 1 steps changed'],
  ['nan', '0.5', 'loss: "NaN" → 0.5 at step 0, 1 of 1 steps changed'],
  ['1.66,', '0.5', 'loss: "1.66," → 0.5 at step 0, 1 of 1 steps changed'],
])('from %s to %s', (from, to, text) => {
  expect(renewalChanges(losses(from), losses(to))).toEqual([text])
})

test('the largest change is shown, what is equal is not', () => {
  expect(renewalChanges(losses('1', '2', '4'), losses('1.1', '1', '4.0'))).toEqual([
    'loss: 2 → 1 (−50 %) at step 1, 2 of 3 steps changed',
  ])
  expect(renewalChanges(losses('1.0'), losses('1'))).toEqual([])
})

test('labels and metrics that were not recorded are new', () => {
  const after: Recording = new Map([[0, { loss: { a: '1', b: '2' }, accuracy: { '0': '3' } }]])
  expect(renewalChanges(new Map([[0, { loss: { a: '1' } }]]), after)).toEqual([
    'loss.b is new at step 0',
    'accuracy is new at step 0',
  ])
})
