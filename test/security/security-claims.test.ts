import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../support/assay.ts'

const text = readFileSync(join(root, 'SECURITY.md'), 'utf8')
const promises = text.slice(text.indexOf('## What Assay promises')).match(/^- .*/gm) ?? []

/** The file that SECURITY.md names behind a promise, and the title of the test there. */
function proofOf(promise: string): { file: string; title: string } | null {
  const [, file, title] = / Test: `([\w./-]+\.test\.ts)`, "(.+)"\.$/.exec(promise) ?? []
  return file && title ? { file, title } : null
}

describe('every promise of SECURITY.md', () => {
  test('is found', () => {
    expect(promises.length).toBeGreaterThan(15)
  })

  test.each(promises)('is a test: %s', (promise) => {
    const { file, title } = proofOf(promise)!
    expect(existsSync(join(root, file)), file).toBe(true)
    const source = readFileSync(join(root, file), 'utf8')
    const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`)
    expect(
      quoted.some((each) => source.includes(each)),
      `${file} has no test "${title}"`,
    ).toBe(true)
  })

  test('without a test is noticed', () => {
    expect(proofOf('- Nothing can happen.')).toBeNull()
  })
})
