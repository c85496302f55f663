import { expect, test } from 'vitest'
import { judgeRate } from './gates/rate-gate.ts'
import { LogLines } from './log-lines.ts'

const c = {
  plan: { model: { given: 'org/model', micro: null } },
  shape: { batchSize: 1, promptLength: 64, newTokens: 16 },
  underTest: { name: 'aiu' },
}

function ratesOf(diffMean: number, ce: number, kept: number): string[] {
  const lines: string[] = []
  const counts = [
    { metric: 'diff_mean' as const, threshold: 0.0007839603102183846, over: diffMean, kept },
    { metric: 'ce' as const, threshold: 2.8364005851745624, over: ce, kept },
  ]
  new LogLines((line) => lines.push(line), c).end({ rates: judgeRate(counts, []) })
  return lines
}

test('the documented counts print the documented rates', () => {
  expect(ratesOf(770, 1, 1008)).toEqual([
    '[ 0/ 1]: mean diff failure rate: 0.7638888888888888',
    '[ 0/ 1]: cross entropy loss failure rate: 0.000992063492063492',
  ])
})

test('numbers are written as Python writes them', () => {
  expect(ratesOf(0, 4, 4).map((line) => line.split(': ').at(-1))).toEqual(['0.0', '1.0'])
  expect(ratesOf(1, 3, 100_000).map((line) => line.split(': ').at(-1))).toEqual(['1e-05', '3e-05'])
  expect(ratesOf(0, 0, 0).map((line) => line.split(': ').at(-1))).toEqual(['nan', 'nan'])
})

test('a case begins with what it is of', () => {
  const lines: string[] = []
  new LogLines((line) => lines.push(line), c).begin()
  expect(lines).toEqual([
    '[ 0/ 1]: testing model=org/model, batch_size=1, seq_length=64, max_new_tokens=16, micro_model=False',
    '[ 0/ 1]: aiu warmup',
  ])
})
