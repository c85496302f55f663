import { describe, expect, test } from 'vitest'
import type { ExpectedFailure } from '../../domain/expected-failure.ts'
import type { OutputResult, Result } from '../../domain/result.ts'
import { FAIL, tinyResult } from '../testing/tiny-suite.ts'
import { acceptFailures } from './accept-failures.ts'
import { expectationsFor } from './expected-failures.ts'

const TODAY = '2027-03-01'
const fail = tinyResult('a', { ...FAIL, reason: 'y: 6 of 6 values are over the limit; look at layer_Add_sum' })
const error = tinyResult('b', {
  verdict: 'error',
  error: { stage: 'compile', side: 'target', message: 'Op Foo is not supported (17)' },
})
const inconclusive = tinyResult('c', {
  verdict: 'inconclusive',
  reason: 'all 6 elements are the same on both sides, which proves nothing; give inputs',
})

function accept(results: readonly Result[], entries: readonly ExpectedFailure[] = [], more = {}) {
  const ids = results.map(({ id }) => id)
  const expectations = expectationsFor({ entries, today: TODAY }, ids)
  return acceptFailures(results.map(expectations.apply), entries, { strict: false, today: TODAY, ...more })
}

const entry = (id: string, more: Partial<ExpectedFailure> = {}): ExpectedFailure => {
  return { id, verdict: 'fail', place: 'f.yaml:1', ...more }
}

describe('what is accepted', () => {
  test('is every fail and error, with where it arose and the words that stay', () => {
    expect(accept([fail, error, inconclusive, tinyResult('d')])).toEqual({
      put: [
        { id: 'a', verdict: 'fail' },
        { id: 'b', verdict: 'error', stage: 'compile', side: 'target', error: 'Op Foo is not supported' },
      ],
      remove: [],
    })
  })

  test('is what is inconclusive only where that fails the run', () => {
    const [put] = accept([inconclusive], [], { strict: true }).put
    expect(put).toEqual({
      id: 'c',
      verdict: 'inconclusive',
      error: 'elements are the same on both sides, which proves nothing',
    })
  })

  test('names what is wrong with the form of an output, not which limit its numbers break', () => {
    const output: OutputResult = {
      ...{ name: 'y', dtype: null, shape: null, verdict: 'fail', rule: '', metrics: [], mismatches: null, worst: [] },
      flags: ['shape'],
      reason: 'shape (2, 3), the reference has (3, 2)',
    }
    const [put] = accept([{ ...fail, reason: `y: ${output.reason}`, outputs: [output] }]).put
    expect(put).toEqual({ id: 'a', verdict: 'fail', error: 'the reference has' })
  })

  test('is excused up to twice its size, rounded up, and NaN by its words', () => {
    const base = { name: 'y', dtype: null, shape: null, rule: '', mismatches: null, worst: [] } as const
    const sized = (value: number, more: Partial<OutputResult> = {}) => {
      const metrics = [{ name: 'rel_l2', direction: 'lower', value, count: 2 }] as const
      const output: OutputResult = { ...base, verdict: 'fail', flags: ['over-tolerance'], metrics, ...more }
      return accept([{ ...fail, outputs: [output] }]).put[0]
    }
    expect(sized(0.0123)).toEqual({ id: 'a', verdict: 'fail', relL2: 0.03 })
    expect(sized(0.005)).toEqual({ id: 'a', verdict: 'fail', relL2: 0.01 })
    expect(sized(3.4e-7)).toEqual({ id: 'a', verdict: 'fail', relL2: 7e-7 })
    expect(sized(Number.POSITIVE_INFINITY)).toEqual({ id: 'a', verdict: 'fail' })
    const reason = '2 of 8 values are NaN or infinite and differ between the sides'
    expect(sized(0.01, { flags: ['non-finite'], reason })).toEqual({
      id: 'a',
      verdict: 'fail',
      error: 'values are NaN or infinite and differ between the sides',
    })
  })

  test('leaves alone what is excused already, and removes the own entry of what passes', () => {
    expect(accept([fail, tinyResult('d'), tinyResult('e')], [entry('a'), entry('d'), entry('[e]*')])).toEqual({
      put: [],
      remove: ['d'],
    })
    expect(accept([tinyResult('d')], [entry('d', { expires: TODAY })]).remove).toEqual(['d'])
    expect(accept([tinyResult('e')], [entry('?')])).toEqual({ put: [], remove: [] })
  })

  test('updates an entry whose outcome changed; its link stays, an expiry that is over goes', () => {
    const issue = 'https://example.com/1'
    const before = [entry('b', { issue, expires: '2027-01-01' })]
    expect(accept([error], before).put).toMatchObject([{ id: 'b', verdict: 'error', issue }])
    expect(accept([error], before).put[0]).not.toHaveProperty('expires')
    const more = { issue: 'https://example.com/2', expires: '2028-01-01' }
    expect(accept([error], before, more).put).toMatchObject([more])
    expect(accept([error], [entry('b', { expires: '2028-02-02' })]).put).toMatchObject([{ expires: '2028-02-02' }])
  })

  test('is excused the next time', () => {
    const results = [fail, error, inconclusive]
    const put = accept(results, [], { strict: true }).put.map((own) => ({ ...own, place: 'f.yaml:1' }))
    const again = expectationsFor({ entries: put, today: TODAY }, ['a', 'b', 'c'])
    expect(results.map((result) => again.apply(result).verdict)).toEqual(['xfail', 'xfail', 'xfail'])
  })
})
