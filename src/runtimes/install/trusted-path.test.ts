import { chmodSync, lchownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { whoElseCanWrite } from './trusted-path.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay trusted path '))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const project = join(folder, 'project')
mkdirSync(project)

/** `node_modules/x` in a folder of this mode. */
function packageIn(name: string, mode = 0o755): { above: string; path: string } {
  const above = join(folder, name)
  const path = join(above, 'node_modules/x')
  mkdirSync(path, { recursive: true })
  chmodSync(above, mode)
  return { above, path }
}

test('what only this user and root can change is trusted, also below a folder like /tmp', () => {
  expect(whoElseCanWrite(packageIn('plain').path, project)).toBe(null)
  expect(whoElseCanWrite(packageIn('sticky', 0o1777).path, project)).toBe(null)
})

test('a folder on the way that others can write is named', () => {
  const { above, path } = packageIn('open', 0o777)
  expect(whoElseCanWrite(path, project)).toBe(above)
  const inside = packageIn('closed')
  chmodSync(join(inside.above, 'node_modules'), 0o757)
  expect(whoElseCanWrite(inside.path, project)).toBe(join(inside.above, 'node_modules'))
  chmodSync(join(inside.above, 'node_modules'), 0o755)
  chmodSync(inside.path, 0o777)
  expect(whoElseCanWrite(inside.path, project)).toBe(inside.path)
})

test('links are followed, each step of them', () => {
  const { above, path } = packageIn('aim', 0o777)
  symlinkSync(path, join(folder, 'link'))
  symlinkSync('link', join(folder, 'link to link'))
  expect(whoElseCanWrite(join(folder, 'link to link'), project)).toBe(above)
  symlinkSync('plain/node_modules/../../sticky/node_modules/x', join(folder, 'relative'))
  expect(whoElseCanWrite(join(folder, 'relative'), project)).toBe(null)
  symlinkSync('loop', join(folder, 'loop'))
  expect(whoElseCanWrite(join(folder, 'loop'), project)).toBe(join(folder, 'loop'))
})

test.runIf(process.getuid?.() === 0)('what somebody else owns is not trusted, unless the project is theirs too', () => {
  const { path } = packageIn('theirs')
  lchownSync(path, 65534, 65534)
  expect(whoElseCanWrite(path, project)).toBe(path)
  const sticky = packageIn('their sticky', 0o1777)
  lchownSync(join(sticky.above, 'node_modules'), 65534, 65534)
  expect(whoElseCanWrite(sticky.path, project)).toBe(sticky.above)
  const theirs = join(folder, 'their project')
  mkdirSync(theirs)
  lchownSync(theirs, 65534, 65534)
  expect(whoElseCanWrite(path, theirs)).toBe(null)
})
