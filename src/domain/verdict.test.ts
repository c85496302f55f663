import { describe, expect, test } from 'vitest'
import { chooseExitCode, countVerdicts, type Verdict, worstVerdict } from './verdict.ts'

const code = (verdicts: Verdict[], options = {}) => chooseExitCode(countVerdicts(verdicts), options)

describe('exit codes', () => {
  test.each<[Verdict[], number]>([
    [['pass', 'skip', 'xfail', 'inconclusive'], 0],
    [['captured'], 0],
    [['pass', 'fail'], 1],
    [['pass', 'error'], 1],
    [['pass', 'xpass'], 1],
    [['skip'], 5],
    [['inconclusive', 'skip'], 5],
    [[], 5],
  ])('%j ends with %i', (verdicts, expected) => {
    expect(code(verdicts)).toBe(expected)
  })

  test('strict makes inconclusive a failure, an interrupt wins over everything', () => {
    expect(code(['pass', 'inconclusive'], { strict: true })).toBe(1)
    expect(code(['fail'], { interrupted: true })).toBe(2)
    expect(code([], { passWithNoTests: true })).toBe(0)
    expect(code(['pass'], { stale: 1 })).toBe(0)
    expect(code(['pass'], { stale: 1, strict: true })).toBe(1)
  })

  test('the worst part decides', () => {
    expect(worstVerdict(['pass', 'inconclusive', 'fail'])).toBe('fail')
    expect(worstVerdict(['fail', 'error'])).toBe('error')
  })
})
