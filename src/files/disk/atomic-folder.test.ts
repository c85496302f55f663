import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolderAtomic } from './atomic-folder.ts'
import { bootId, ownedName } from './process-identity.ts'
import { ulid } from './ulid.ts'

const newPlace = () => join(mkdtempSync(join(tmpdir(), 'assay-')), 'place')
const noteOf = (text: string) => (draft: string) => writeFile(join(draft, 'note'), text)
const noteIn = (place: string) => readFileSync(join(place, 'note'), 'utf8')

test('a folder gets its name when it is complete', async () => {
  const place = join(newPlace(), 'a folder')
  await makeFolderAtomic(place, async (draft) => {
    await noteOf('whole')(draft)
    expect(existsSync(place)).toBe(false)
  })
  expect(noteIn(place)).toBe('whole')
  expect(readdirSync(dirname(place))).toEqual(['a folder'])
})

test('one that cannot be completed leaves nothing behind', async () => {
  const place = newPlace()
  const failing = makeFolderAtomic(place, async (draft) => {
    await noteOf('half')(draft)
    throw new Error('not today')
  })
  await expect(failing).rejects.toThrow('not today')
  expect(readdirSync(dirname(place))).toEqual([])
})

test('it has the mode that was asked for', async () => {
  const place = newPlace()
  await makeFolderAtomic(place, noteOf(''), 0o700)
  expect(statSync(place).mode & 0o777).toBe(0o700)
})

test('a place that cannot be written is told in words', async () => {
  const place = newPlace()
  writeFileSync(place, '')
  await expect(makeFolderAtomic(join(place, 'inside'), noteOf(''))).rejects.toThrow(
    `a part of ${join(place, 'inside')} is a file where a folder was expected; choose another folder`,
  )
})

describe('what is at the place already', () => {
  test('stays, whether another process or a person put it there', async () => {
    const place = newPlace()
    await makeFolderAtomic(place, noteOf('first'))
    await makeFolderAtomic(place, noteOf('second'))
    expect([noteIn(place), readdirSync(dirname(place))]).toEqual(['first', ['place']])
  })

  test('stays also where it is a file or a link', async () => {
    const elsewhere = newPlace()
    mkdirSync(elsewhere)
    for (const plant of [(path: string) => writeFileSync(path, ''), (path: string) => symlinkSync(elsewhere, path)]) {
      const place = newPlace()
      plant(place)
      await makeFolderAtomic(place, noteOf('ours'))
      expect(readdirSync(dirname(place))).toEqual(['place'])
      expect(existsSync(join(place, 'note'))).toBe(false)
    }
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('gives way where it is an empty folder', async () => {
    const place = newPlace()
    mkdirSync(place)
    await makeFolderAtomic(place, noteOf('ours'))
    expect(noteIn(place)).toBe('ours')
  })

  test('is of one maker where several work at once', async () => {
    const place = newPlace()
    const makers = Array.from({ length: 8 }, (_, i) => String(i))
    await Promise.all(makers.map((maker) => makeFolderAtomic(place, noteOf(maker))))
    expect(makers).toContain(noteIn(place))
    expect(readdirSync(dirname(place))).toEqual(['place'])
  })
})

test('drafts of dead processes are removed, and nothing else', async () => {
  const place = newPlace()
  const kept = [`.new-${ownedName()}`, '.new-notes', 'notes', `.new-1.another-boot.${ulid()}`].sort()
  for (const name of [...kept, `.new-${2 ** 22 + 1}.${bootId()}.${ulid()}`]) {
    mkdirSync(join(dirname(place), name))
    writeFileSync(join(dirname(place), name, 'note'), '')
  }
  await makeFolderAtomic(place, noteOf('ours'))
  expect(readdirSync(dirname(place)).sort()).toEqual([...kept, 'place'].sort())
})
