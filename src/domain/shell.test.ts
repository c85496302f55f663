import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shellWord } from './shell.ts'
import { cleanText } from './text.ts'

const WORDS = [
  'plain/model@ort:cpu',
  '',
  "it's [batch=2]",
  'red \u001b[31m/full_model@ort:cpu',
  'two\nlines $(touch pwned) `x` "y" \\n 100% !\u0007',
  'turned \u202eround, naïve \u{e0001}',
  '-n\t\'"',
]

test.each(WORDS)('%j reaches the program as it is, and a terminal shows it as it is', (word) => {
  const text = shellWord(word)
  expect(execFileSync('sh', ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' })).toBe(`${word}\0`)
  expect(cleanText(text)).toBe(text)
})

test('line ends at the end stay', () => {
  const word = 'red \u001b[31m\n\n'
  expect(execFileSync('sh', ['-c', `printf '%s\\0' ${shellWord(word)}`], { encoding: 'utf8' })).toBe(`${word}\0`)
  expect(shellWord(word)).not.toContain('\u001b')
})
