import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LogFile } from './log-file.ts'

const BUDGET = { headBytes: 10, tailBytes: 5 }

function written(...parts: readonly string[]): { text: string; warnings: readonly string[] } {
  const path = join(mkdtempSync(join(tmpdir(), 'log-file-')), 'program.log')
  const file = new LogFile(path, BUDGET)
  for (const part of parts) file.add(Buffer.from(part))
  const warnings = file.close()
  return { text: readFileSync(path, 'utf8'), warnings }
}

test('what fits is written as it came', () => {
  expect(written('12345', '67890abcd', 'e')).toEqual({ text: '1234567890abcde', warnings: [] })
  expect(written()).toEqual({ text: '', warnings: [] })
})

test('of more than that the middle is left out, which the file and a warning say', () => {
  const { text, warnings } = written('12345678', '90 the middle', ' and the', ' end')
  expect(text).toBe('1234567890\n[… 18 B are left out here …]\ne end')
  expect(warnings).toEqual(['the log file leaves out 18 B in its middle'])
})

test.runIf(existsSync('/dev/full'))('a full disk is said and stops nothing', () => {
  const file = new LogFile('/dev/full')
  file.add(Buffer.from('a'))
  file.add(Buffer.from('b'))
  expect(file.close()).toEqual([expect.stringMatching(/^the log file is not complete: ENOSPC/)])
})
