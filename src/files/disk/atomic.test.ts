import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { explainWriteError, openAtomic, writeFileAtomic } from './atomic.ts'

const folder = () => mkdtemp(join(tmpdir(), 'assay-'))

test('a file is replaced whole and nothing else is left in its folder', async () => {
  const path = join(await folder(), 'a.json')
  await writeFile(path, 'old')
  await writeFileAtomic(path, 'new')
  expect(await readFile(path, 'utf8')).toBe('new')
  expect(await readdir(join(path, '..'))).toEqual(['a.json'])
})

test('an aborted file leaves the old one untouched', async () => {
  const path = join(await folder(), 'a')
  await writeFile(path, 'old')
  const file = await openAtomic(path)
  await file.handle.writeFile('half')
  await file.abort()
  expect(await readFile(path, 'utf8')).toBe('old')
  expect(await readdir(join(path, '..'))).toEqual(['a'])
})

test('a folder that does not exist is named in the error', async () => {
  const path = join(await folder(), 'none', 'a')
  await expect(writeFileAtomic(path, 'x')).rejects.toThrow(`the folder of ${path} does not exist; create it first`)
})

test('a device without space says "disk full", with the path as it is', () => {
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' })
  expect(String(explainWriteError(full, '/a/$&'))).toContain('disk full while writing /a/$&;')
  const strange = Object.assign(new Error('write'), { code: 'EBADF' })
  expect(explainWriteError(strange, '/a')).toBe(strange)
})

test('a real write to a full device has the code that the message is made from', () => {
  const script = `try { require('fs').writeFileSync('/dev/full', 'x') } catch (e) { console.log(e.code) }`
  const result = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  expect(result.stdout.trim()).toBe('ENOSPC')
})
