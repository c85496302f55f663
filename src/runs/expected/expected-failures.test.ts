import { describe, expect, test } from 'vitest'
import type { ExpectedFailure } from '../../domain/expected-failure.ts'
import type { OutputResult, Result } from '../../domain/result.ts'
import { FAIL, tinyResult } from '../testing/tiny-suite.ts'
import { expectationsFor, matchEntries, withoutExpectation } from './expected-failures.ts'

const TODAY = '2027-03-01'

function entry(id: string, more: Partial<ExpectedFailure> = {}): ExpectedFailure {
  return { id, verdict: 'fail', place: `f.yaml:${id.length}`, ...more }
}

describe('which entry a case has', () => {
  const ids = ['vad/full_model@wasm', 'vad/full_model@webgpu', 'vad/full_model[batch=2]@wasm', 'x*y', 'xzy', 'a\nb']
  const found = (...patterns: string[]) => {
    const { entryOf, stale } = matchEntries(
      patterns.map((id) => entry(id)),
      ids,
    )
    return { of: Object.fromEntries([...entryOf].map(([id, own]) => [id, own.id])), stale: stale.map(({ id }) => id) }
  }

  test('its own id wins over a glob, a later glob over an earlier one', () => {
    expect(found('vad/full_model@wasm', '**', 'vad/*@webgpu', 'x?y').of).toMatchObject({
      'vad/full_model@wasm': 'vad/full_model@wasm',
      'vad/full_model@webgpu': 'vad/*@webgpu',
      'vad/full_model[batch=2]@wasm': '**',
      xzy: 'x?y',
    })
    expect(found('vad/*@webgpu', '**').of['vad/full_model@webgpu']).toBe('**')
  })

  test('brackets stand for themselves, alone and in a glob', () => {
    expect(found('vad/full_model[batch=2]@wasm').of).toEqual({
      'vad/full_model[batch=2]@wasm': 'vad/full_model[batch=2]@wasm',
    })
    expect(Object.keys(found('*/full_model[batch=2]@*').of)).toEqual(['vad/full_model[batch=2]@wasm'])
    expect(found('vad/full_mode[lx]@wasm').stale).toEqual(['vad/full_mode[lx]@wasm'])
  })

  test('an id that looks like a glob is that id and nothing else', () => {
    expect(found('x*y').of).toEqual({ 'x*y': 'x*y' })
  })

  test('two stars match slashes and line ends, alternatives are alternatives', () => {
    expect(Object.keys(found('a**b').of)).toEqual(['a\nb'])
    expect(Object.keys(found('vad/full_model@{wasm,webgpu}').of)).toHaveLength(2)
    expect(found('vad*').stale).toEqual(['vad*'])
  })

  test('what matches no case is stale, also where it would be another case with other capitals', () => {
    expect(found('VAD/full_model@wasm', 'gone', 'gone/**').stale).toEqual(['VAD/full_model@wasm', 'gone', 'gone/**'])
  })
})

describe('a result in the light of its entry', () => {
  const fail = tinyResult('a', FAIL)
  const error = tinyResult('a', {
    verdict: 'error',
    error: { stage: 'compile', side: 'target', message: 'Op Foo is NOT\nsupported (17)' },
  })
  const pass = tinyResult('a')
  const apply = (result: Result, more: Partial<ExpectedFailure>, id = 'a') =>
    expectationsFor({ entries: [entry(id, { place: 'f.yaml:7', ...more })], today: TODAY }, ['a']).apply(result)

  test('does what it says: xfail, and keeps all that was found', () => {
    const result = apply(error, { verdict: 'error', stage: 'compile', side: 'target', error: 'not supported' })
    expect(result).toMatchObject({
      verdict: 'xfail',
      error: error.error,
      expected: { outcome: 'met', found: { verdict: 'error' } },
    })
    expect(apply(fail, {})).toMatchObject({ verdict: 'xfail', reason: 'differs', outputs: fail.outputs })
    expect(apply(tinyResult('a', { verdict: 'inconclusive' }), { verdict: 'inconclusive' }).verdict).toBe('xfail')
  })

  test('passes: xpass, with the line to remove or to narrow', () => {
    expect(apply(pass, {})).toMatchObject({
      verdict: 'xpass',
      reason: 'expected fail, but it passes: remove the entry f.yaml:7',
      expected: { outcome: 'passed' },
    })
    expect(apply(pass, { verdict: 'inconclusive' }).verdict).toBe('xpass')
    expect(apply(pass, {}, '*').reason).toBe('expected fail, but it passes: narrow or remove the entry f.yaml:7 ("*")')
  })

  test.each<[string, Result, Partial<ExpectedFailure>, string]>([
    [
      'another verdict',
      fail,
      { verdict: 'error', stage: 'compile' },
      'expected: error at compile; found: fail at compare (f.yaml:7); differs',
    ],
    [
      'another stage',
      error,
      { verdict: 'error', stage: 'run' },
      'expected: error at run; found: error at compile on the target (f.yaml:7)',
    ],
    [
      'another side',
      error,
      { verdict: 'error', side: 'reference' },
      'expected: error on the reference; found: error at compile on the target (f.yaml:7)',
    ],
    [
      'other words',
      error,
      { verdict: 'error', error: 'out of memory' },
      'expected: error with "out of memory"; found: error at compile on the target, in other words (f.yaml:7)',
    ],
    [
      'a failure instead of an inconclusive one',
      fail,
      { verdict: 'inconclusive' },
      'expected: inconclusive; found: fail at compare (f.yaml:7); differs',
    ],
  ])('fails otherwise, %s: its own verdict and both in the reason', (_what, result, more, reason) => {
    expect(apply(result, more)).toMatchObject({ verdict: result.verdict, reason, expected: { outcome: 'differs' } })
  })

  test('a failure is excused up to a size, and not where it has none', () => {
    const output = (relL2: number | null, more: Partial<OutputResult> = {}): OutputResult => ({
      ...{ name: 'y', dtype: 'float32', shape: [2], verdict: 'fail', rule: '', flags: [], mismatches: null, worst: [] },
      metrics: [{ name: 'rel_l2', direction: 'lower', value: relL2, count: 2 }],
      ...more,
    })
    const sized = (...outputs: OutputResult[]) => apply(tinyResult('a', { ...FAIL, outputs }), { relL2: 0.02 })
    expect(sized(output(0.02)).verdict).toBe('xfail')
    expect(sized(output(0.3, { verdict: 'pass' }), output(0.01)).verdict).toBe('xfail')
    expect(sized(output(0.01), output(0.03))).toMatchObject({
      verdict: 'fail',
      reason: 'expected: fail up to relL2 0.02; found: fail at compare, relL2 0.03 (f.yaml:7); differs',
    })
    const nonFinite = { name: 'nonfinite_mismatch', direction: 'lower', value: 1, count: 2 } as const
    for (const unsized of [
      output(Number.NaN),
      output(null),
      output(0, { metrics: [] }),
      output(0, { metrics: [...output(0.01).metrics, nonFinite] }),
    ]) {
      const { verdict, reason } = sized(output(0.01), unsized)
      expect([verdict, reason]).toEqual([
        'fail',
        'expected: fail up to relL2 0.02; found: fail at compare, of no size that could be measured (f.yaml:7); differs',
      ])
    }
    expect(sized().verdict).toBe('fail')
  })

  test('an entry excuses nothing from its day on', () => {
    expect(apply(fail, { expires: '2027-03-02' }).verdict).toBe('xfail')
    expect(apply(fail, { expires: TODAY })).toMatchObject({
      verdict: 'fail',
      reason: 'the expectation expired on 2027-03-01 (f.yaml:7); differs',
      expected: { outcome: 'expired' },
    })
    expect(apply(pass, { expires: '2026-12-31' }).verdict).toBe('pass')
  })

  test('what was skipped or captured stays so', () => {
    expect(apply(tinyResult('a', { verdict: 'skip', reason: 'no' }), {})).toMatchObject({
      verdict: 'skip',
      flags: ['expected-failure'],
    })
    expect(apply(tinyResult('a', { verdict: 'captured' }), {}).expected).toBeUndefined()
  })

  test('can be seen as it was without', () => {
    const skip = tinyResult('a', { verdict: 'skip', reason: 'no' })
    for (const result of [fail, error, pass, skip]) {
      for (const expires of [undefined, TODAY]) {
        const seen = apply(result, expires === undefined ? {} : { expires })
        expect(seen.expected).toBeDefined()
        expect(withoutExpectation(seen)).toStrictEqual(result)
      }
    }
  })
})
