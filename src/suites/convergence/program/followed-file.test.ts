import { appendFileSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { FollowedFile } from './followed-file.ts'

let path = ''
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'followed-')), 'metrics.csv')
})

function news(file: FollowedFile): string {
  let text = ''
  file.read(
    (bytes) => {
      text += Buffer.from(bytes).toString()
    },
    () => true,
  )
  return text
}

test('a file is read as it grows', () => {
  const file = new FollowedFile(path)
  expect(news(file)).toBe('')
  writeFileSync(path, 'a\n')
  expect(news(file)).toBe('a\n')
  expect(news(file)).toBe('')
  appendFileSync(path, 'b')
  expect(news(file)).toBe('b')
  expect(file.beginnings).toBe(0)
})

test('what an earlier run left is not news', () => {
  writeFileSync(path, 'old\n')
  const file = new FollowedFile(path)
  expect(news(file)).toBe('')
  file.finish()
  expect(news(file)).toBe('')
})

test('what is added to the file of an earlier run is news', () => {
  writeFileSync(path, 'old\n')
  const file = new FollowedFile(path)
  appendFileSync(path, 'new\n')
  expect(news(file)).toBe('new\n')
  appendFileSync(path, 'more\n')
  expect(news(file)).toBe('more\n')
  expect(file.beginnings).toBe(0)
})

test.each([
  ['shorter', 'ne\n'],
  ['longer', 'new and longer\n'],
  ['as long', 'new\n'],
])('a file of an earlier run that is written anew and %s is read from its beginning', (_, text) => {
  writeFileSync(path, 'old\n')
  const file = new FollowedFile(path)
  writeFileSync(path, text)
  utimesSync(path, 1e9, 1e9)
  const atOnce = news(file)
  file.finish()
  expect(atOnce + news(file)).toBe(text)
  expect(file.beginnings).toBe(1)
})

test('the very bytes of the earlier run, written again, are news', () => {
  writeFileSync(path, 'same\n')
  const file = new FollowedFile(path)
  writeFileSync(path, 'same\n')
  utimesSync(path, 1e9, 1e9)
  file.finish()
  expect(news(file)).toBe('same\n')
})

test('a file that is replaced by another one is read from its beginning', () => {
  writeFileSync(path, 'old\n')
  const file = new FollowedFile(path)
  writeFileSync(`${path}.next`, 'old\nnew\n')
  renameSync(`${path}.next`, path)
  expect(news(file)).toBe('old\nnew\n')
})

test('a file that is written whole each time goes on where it was read to, unless it changed before that', () => {
  const file = new FollowedFile(path)
  writeFileSync(path, 'step,x\n1,2\n')
  expect(news(file)).toBe('step,x\n1,2\n')
  writeFileSync(path, 'step,x\n1,2\n2,3\n')
  expect(news(file)).toBe('2,3\n')
  writeFileSync(path, 'step,x,y\n1,2,\n2,3,\n3,4,5\n')
  expect(news(file)).toBe('step,x,y\n1,2,\n2,3,\n3,4,5\n')
  expect(file.beginnings).toBe(1)
})

test('a file that goes is no failure', () => {
  writeFileSync(path, 'old\n')
  const file = new FollowedFile(path)
  rmSync(path)
  expect(news(file)).toBe('')
  file.finish()
})

test('nothing more is read than there is room for', () => {
  const file = new FollowedFile(path)
  writeFileSync(path, 'x'.repeat(200_000))
  let taken = 0
  const take = (bytes: Uint8Array) => {
    taken += bytes.length
  }
  expect(file.read(take, () => taken < 70_000)).toBe(true)
  expect(taken).toBe(2 * 65536)
  file.read(take, () => true)
  expect(taken).toBe(200_000)
})
