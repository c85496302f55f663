import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isUnreadable, whyUnreadable } from './unreadable.ts'

test('what somebody made unreadable is told from a disk that fails', () => {
  const codes = (...list: string[]) => list.map((code) => isUnreadable(Object.assign(new Error(code), { code })))
  expect(codes('EACCES', 'EPERM', 'ELOOP', 'ENOENT')).toEqual([true, true, true, true])
  expect(codes('EIO', 'EMFILE', 'ENFILE', 'ENOMEM')).toEqual([false, false, false, false])
})

test('a name that is not UTF-8 is said to be why', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-'))
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'm')), Buffer.from([0xff, 0xfe])]), '')
  const [name = ''] = readdirSync(folder)
  expect(whyUnreadable(join(folder, name))).toBe('has a name that is not UTF-8, so it cannot be opened; rename it')
  expect(whyUnreadable(join(folder, 'absent'))).toBeNull()
  writeFileSync(join(folder, '\ufffd'), '')
  expect(whyUnreadable(join(folder, '\ufffd'))).toBeNull()
})
