import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { freshFolder } from '../testing/tiny-suite.ts'
import { ResultLines } from './result-lines.ts'

test('lines are in the file at once, and the file is closed once', async () => {
  const path = join(freshFolder(), 'results.jsonl')
  const lines = new ResultLines(path)
  lines.append('a')
  lines.append('b')
  expect(readFileSync(path, 'utf8')).toBe('a\nb\n')
  expect(lines.isOpen).toBe(true)
  await lines.close()
  await lines.close()
  expect(lines.isOpen).toBe(false)
})

// Linux takes every line for /dev/null, and says EINVAL when asked to sync it.
test.runIf(process.platform === 'linux')(
  'lines are synced while the run goes on; a sync that failed ends it',
  async () => {
    const lines = new ResultLines('/dev/null', 1)
    lines.append('a')
    const refused = () => {
      try {
        lines.append('b')
      } catch (error) {
        return String(error).includes('EINVAL')
      }
      return false
    }
    await until(refused, 'a line is refused after the sync')
    await expect(lines.close()).rejects.toThrow('EINVAL')
  },
)

test.runIf(process.platform === 'linux')('a line that does not fit is told in words', async () => {
  const lines = new ResultLines('/dev/full')
  expect(() => lines.append('a')).toThrow('the disk is full (ENOSPC) while writing /dev/full; free some space')
})
