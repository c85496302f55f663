import { expect, test } from 'vitest'
import { displayWidth } from '../domain/text.ts'
import { entryText, expectedLines, expiredLines, staleLines } from './expected-lines.ts'
import { createStyle } from './style.ts'
import { expectedResult, HOSTILE, KeptStream, sampleHeader, sampleResult } from './testing/sample-run.ts'

const styleOf = (columns: number) => createStyle(new KeptStream(columns, true), { env: {}, color: false })
const header = sampleHeader([])
const withStale = (stale: { id: string; place: string }[]) => ({ ...header, summary: { ...header.summary!, stale } })

test('what fails as expected has a line each, with what ends soon', () => {
  const results = [
    sampleResult(),
    expectedResult('vad', { issue: 'https://example.com/7', expires: '2026-11-20' }),
    expectedResult('rec', { verdict: 'error', stage: 'compile', side: 'target', error: 'x', expires: '2027-11-20' }),
  ]
  expect(expectedLines(header, results, styleOf(100))).toEqual([
    'expected failures: 2 (1 expires in 5 days: vad/full_model@chromium:webgpu)',
    '  x vad/full_model@chromium:webgpu  https://example.com/7  assay.expected.yaml:3',
    '  x rec/full_model@chromium:webgpu  error at compile on the target  assay.expected.yaml:3',
  ])
  expect(expectedLines(header, [sampleResult()], styleOf(100))).toEqual([])
})

test('of several that end soon the first is named', () => {
  const results = ['2026-11-20', '2026-11-16'].map((expires, i) => expectedResult(`m${i}`, { expires }))
  expect(expectedLines(header, results, styleOf(100))[0]).toBe(
    'expected failures: 2 (2 expire soon, the first in 1 day: m1/full_model@chromium:webgpu)',
  )
})

test('many are counted and not all shown', () => {
  const many = Array.from({ length: 25 }, (_, i) => expectedResult(`m${i}`))
  const lines = expectedLines(header, many, styleOf(80))
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    12,
    'expected failures: 25',
    '  … and 15 more (-v shows them)',
  ])
  const stale = staleLines(withStale(many.map(({ id }) => ({ id, place: 'f.yaml:1' }))), styleOf(80))
  expect([stale.length, stale.at(-1)]).toEqual([12, '  … and 15 more in the record'])
})

test('an expired entry whose case passes is named', () => {
  const { expected } = expectedResult('vad', { expires: '2026-01-01' })
  const passing = sampleResult({ expected: { ...expected!, outcome: 'expired', found: { verdict: 'pass' } } })
  expect(expiredLines([passing, sampleResult()], styleOf(80))).toEqual([
    'expired entries whose cases pass; remove them: assay.expected.yaml:3',
  ])
  expect(expiredLines([sampleResult()], styleOf(80))).toEqual([])
})

test('stale entries are listed with their lines', () => {
  expect(staleLines(withStale([{ id: 'gone/*', place: 'assay.expected.yaml:12' }]), styleOf(80))).toEqual([
    'stale entries: 1 matches no case of the whole plan; mend or remove it',
    '  assay.expected.yaml:12  gone/*',
  ])
  expect(staleLines(header, styleOf(80))).toEqual([])
})

test.each(HOSTILE)('%j stays on its line and within 80 columns', (text) => {
  const result = expectedResult(text, { id: text, place: text, issue: text, error: text, expires: '2026-11-16' })
  const lines = [
    ...expectedLines(header, [result], styleOf(80)),
    ...staleLines(withStale([{ id: text, place: text }]), styleOf(80)),
  ]
  for (const line of [...lines, entryText(result.expected!)]) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(80)
})
