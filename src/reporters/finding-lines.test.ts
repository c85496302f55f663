import { expect, test } from 'vitest'
import { findingLines } from './finding-lines.ts'
import { createStyle } from './style.ts'

const style = (columns: number, env: Record<string, string> = { LANG: 'C.UTF-8' }) =>
  createStyle({ write: () => true, columns }, { env, color: false })

test('a finding is wrapped under its name, in plain signs where the terminal has no others', () => {
  const finding = {
    name: 'memory',
    health: 'look',
    text: '1 GiB free of 2 GiB',
    remedy: 'close other programs',
  } as const
  expect(findingLines(finding, 11, style(30, { LANG: 'C' })).join('\n')).toMatchInlineSnapshot(`
    "! memory       1 GiB free
                   of 2 GiB
                   → close
                   other
                   programs"
  `)
  expect(findingLines({ ...finding, name: 'a name that is long' }, 11, style(60))[0]).toBe('! a name that is long')
})
