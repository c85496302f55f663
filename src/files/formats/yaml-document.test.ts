import { expect, test } from 'vitest'
import { LineCounter } from 'yaml'
import { describeYamlProblem, parseYamlDocument } from './yaml-document.ts'

function problemOf(text: string, hints = {}): string | null {
  const lines = new LineCounter()
  return describeYamlProblem(parseYamlDocument(text, lines)!, text, lines, hints)
}

test.each([
  ['a: 1', null],
  ['a:\n\tb: 1', '2: not valid YAML: Tabs are not allowed as indentation; indent with spaces instead of tabs'],
  ['a: 1\n---\nb: 2', '2: not valid YAML: Source contains multiple documents; remove the "---" between them'],
  ['a: !x b', '1: not valid YAML: Unresolved tag: !x; put the value in quotes: ! means something in YAML'],
  ['a: "b', '1: not valid YAML: Missing closing "quote; check quotes and indentation'],
])('of %j the line, the problem and the remedy are said', (text, problem) => {
  expect(problemOf(text)).toBe(problem)
})

test('a reader may know a better remedy', () => {
  expect(problemOf('a: 1\na: 2')).toMatch(/^2: .*; keep one of them$/)
  expect(problemOf('a: 1\na: 2', { DUPLICATE_KEY: 'call one b' })).toMatch(/; call one b$/)
})
