import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findOwnFolder, makeOwnFolder } from './own-folder.ts'

const made: string[] = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay own folder '))
  made.push(folder)
  return folder
}

/** A user with a home, and another one. */
const me = { XDG_STATE_HOME: newFolder() }
const other = { HOME: newFolder() }

const newPlace = () => join(newFolder(), '.assay', 'runtimes')

test('a folder that this user made is found again, by no other user', async () => {
  const usual = newPlace()
  expect(findOwnFolder(usual, me)).toBe(null)
  expect(existsSync(dirname(usual))).toBe(false)
  expect(await makeOwnFolder(usual, me)).toBe(usual)
  expect(readFileSync(join(usual, '../.gitignore'), 'utf8')).toBe('*\n')
  expect([findOwnFolder(usual, me), findOwnFolder(usual, other)]).toEqual([usual, null])
  expect(await makeOwnFolder(usual, me)).toBe(usual)
})

test('two users of a project have a folder each', async () => {
  const usual = newPlace()
  const folders = [await makeOwnFolder(usual, me), await makeOwnFolder(usual, other)]
  expect(folders).toEqual([usual, expect.stringMatching(/runtimes-[0-9a-f]{8}$/)])
  expect([findOwnFolder(usual, me), findOwnFolder(usual, other)]).toEqual(folders)
})

test('one that came with the project is left alone, with what is in it; an empty one is taken', async () => {
  const usual = newPlace()
  mkdirSync(usual, { recursive: true })
  writeFileSync(join(usual, 'theirs'), '')
  expect(findOwnFolder(usual, me)).toBe(null)
  const ours = await makeOwnFolder(usual, me)
  expect(ours).not.toBe(usual)
  expect(existsSync(join(usual, 'theirs'))).toBe(true)
  const empty = newPlace()
  mkdirSync(empty, { recursive: true })
  expect(await makeOwnFolder(empty, me)).toBe(empty)
})

test('a link or a file in its place is passed by', async () => {
  for (const plant of [(path: string) => symlinkSync(newFolder(), path), (path: string) => writeFileSync(path, '')]) {
    const usual = newPlace()
    mkdirSync(dirname(usual))
    plant(usual)
    expect(await makeOwnFolder(usual, me)).toMatch(/runtimes-[0-9a-f]{8}$/)
  }
})

test('it stays ours when the project is moved or brought back to its place, not when it is copied elsewhere', async () => {
  const usual = newPlace()
  await makeOwnFolder(usual, me)
  const project = dirname(dirname(usual))
  const [moved, copied] = [`${project} moved`, `${project} copied`]
  made.push(moved, copied)
  cpSync(project, copied, { recursive: true })
  renameSync(project, moved)
  expect(findOwnFolder(join(moved, '.assay/runtimes'), me)).toBe(join(moved, '.assay/runtimes'))
  expect(findOwnFolder(join(copied, '.assay/runtimes'), me)).toBe(null)
  cpSync(copied, project, { recursive: true })
  expect(findOwnFolder(usual, me)).toBe(usual)
})

test('what proves it can be read by this user alone', async () => {
  const usual = newPlace()
  await makeOwnFolder(usual, me)
  expect(statSync(join(usual, '.owner')).mode & 0o077).toBe(0)
  expect(statSync(join(me.XDG_STATE_HOME, 'assay/id')).mode & 0o077).toBe(0)
})

test('without a home that can be written the temporary folder remembers it', async () => {
  const nowhere = { HOME: '/dev/null/nowhere', XDG_STATE_HOME: '/dev/null/nowhere', TMPDIR: newFolder() }
  const usual = newPlace()
  expect(await makeOwnFolder(usual, nowhere)).toBe(usual)
  expect(findOwnFolder(usual, nowhere)).toBe(usual)
  const [remembered] = readdirSync(nowhere.TMPDIR)
  expect(statSync(join(nowhere.TMPDIR, remembered!)).mode & 0o777).toBe(0o700)
})

test('without any such place nothing is made, and what to do is said', async () => {
  const nowhere = { HOME: '/dev/null/nowhere', TMPDIR: '/dev/null/nowhere' }
  await expect(makeOwnFolder(newPlace(), nowhere)).rejects.toThrow(/; set XDG_STATE_HOME to a folder that only you/)
})

test('a place that others can write remembers nothing', async () => {
  const state = newFolder()
  mkdirSync(join(state, 'assay'))
  chmodSync(join(state, 'assay'), 0o777)
  const usual = newPlace()
  await makeOwnFolder(usual, { XDG_STATE_HOME: state, TMPDIR: newFolder() })
  expect(readdirSync(join(state, 'assay'))).toEqual([])
})

test('several that are made at once are one', async () => {
  const usual = newPlace()
  const folders = await Promise.all(Array.from({ length: 8 }, () => makeOwnFolder(usual, me)))
  expect(new Set(folders)).toEqual(new Set([usual]))
})
