import { expect, test } from 'vitest'
import type { Result } from '../../domain/result.ts'
import { sampleHeader, sampleResult } from '../../reporters/testing/sample-run.ts'
import { diffRuns } from './diff-runs.ts'
import { findCase, unknownCase } from './find-run.ts'
import type { StoredRun } from './read-run.ts'

const relL2 = (value: number) => [{ name: 'rel_l2', direction: 'lower' as const, value, count: 1 }]
const artifact = (name: string) => ({ name, path: `artifacts/${'0'.repeat(64)}`, bytes: 1, sha256: '0'.repeat(64) })

function runOf(...results: Result[]): StoredRun {
  return { folder: '/runs/x', header: sampleHeader(results), results, complete: true }
}

const result = (model: string, change: Partial<Result> = {}) => sampleResult({ model, ...change })

test('what got worse comes first, what only one run has is listed', () => {
  const first = runOf(result('a', { verdict: 'fail' }), result('b'), result('c'), result('d'), result('gone'))
  const second = runOf(
    result('a'),
    result('b', { verdict: 'error', error: { stage: 'run', message: 'died' } }),
    result('c', { verdict: 'fail', reason: 'y differs' }),
    result('d'),
    result('new'),
  )
  const { transitions, onlyInFirst, onlyInSecond, same } = diffRuns(first, second)
  expect(transitions.map(({ id, from, to, reason }) => [id.split('/')[0], from, to, reason])).toEqual([
    ['c', 'pass', 'fail', 'y differs'],
    ['b', 'pass', 'error', 'died'],
    ['a', 'fail', 'pass', null],
  ])
  expect([onlyInFirst, onlyInSecond, same]).toEqual([[result('gone').id], [result('new').id], 1])
})

test('numbers that moved by less than a tenth are not listed, the others by factor', () => {
  const values = { little: [1e-6, 1.05e-6], twice: [2e-6, 1e-6], from0: [0, 1e-9], tenfold: [1e-6, 1e-5] } as const
  const side = (i: 0 | 1) =>
    runOf(...Object.entries(values).map(([name, pair]) => result(name, { metrics: relL2(pair[i]) })))
  const { moved } = diffRuns(side(0), side(1))
  expect(moved.map(({ id }) => id.split('/')[0])).toEqual(['from0', 'tenfold', 'twice'])
})

test('cases whose target tensors both runs kept can be looked at', () => {
  const kept = result('kept', { artifacts: [artifact('target.safetensors')] })
  expect(diffRuns(runOf(kept, result('a')), runOf(kept, result('a'))).kept).toEqual([kept.id])
})

test('a case is found by its id or a part that no other has; otherwise the ids are listed', () => {
  const run = runOf(result('one'), result('two'), result('two', { scope: 'layer_Conv' }))
  expect(findCase(run, 'two/full_model@ort-web:wasm')?.id).toBe('two/full_model@ort-web:wasm')
  expect(findCase(run, 'CONV')?.scope).toBe('layer_Conv')
  expect(findCase(run, 'three')).toBeNull()
  expect(() => findCase(run, 'two')).toThrow('"two" is in 2 ids')
  expect(unknownCase(run, 'one/full_modle@ort-web:wasm')).toContain('did you mean "one/full_model@ort-web:wasm"?')
  expect(unknownCase(run, 'zzz')).toContain('there are one/full_model@ort-web:wasm, ')
})
