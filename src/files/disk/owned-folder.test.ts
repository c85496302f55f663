import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../domain/errors.ts'
import { OwnedFolder } from './owned-folder.ts'

const OWNER = { option: '--dump', marker: '.assay-dump' }
const newFolder = () => mkdtempSync(join(tmpdir(), 'assay-owned-'))
const claim = (path: string, force = false) => OwnedFolder.claim(path, OWNER, force)

describe('a folder of the user', () => {
  test('is made where there is none, and used where it is empty', async () => {
    const place = join(newFolder(), 'a/b')
    const folder = await claim(place)
    await folder.write('index.txt', 'hello')
    expect(readdirSync(place).sort()).toEqual(['.assay-dump', 'index.txt'])
    await claim(newFolder())
  })

  test('is refused when it holds anything, with what to do about it', async () => {
    const foreign = newFolder()
    writeFileSync(join(foreign, 'thesis.txt'), '')
    await expect(claim(foreign)).rejects.toThrow(/is not empty \(1 entry\); give another folder, or --force writes/)
    const own = newFolder()
    await claim(own)
    await expect(claim(own)).rejects.toThrow(/holds what an earlier --dump wrote; .* --force removes those files/)
    expect(readdirSync(foreign)).toEqual(['thesis.txt'])
  })

  test('is refused when it is a file', async () => {
    const file = join(newFolder(), 'model.onnx')
    writeFileSync(file, '')
    await expect(claim(file)).rejects.toThrow(UsageError)
    await expect(claim(file, true)).rejects.toThrow(`${file} is a file, expected a folder`)
  })

  test('loses by force only what was written before, and folders that are empty then', async () => {
    const place = newFolder()
    const first = await claim(place)
    for (const name of ['one', 'two']) {
      await first.folderFor(name)
      await first.write(`${name}/a.txt`, '')
    }
    await first.scratch()
    writeFileSync(join(place, 'two/notes.txt'), 'mine')
    writeFileSync(join(place, 'mine.txt'), 'mine')
    await claim(place, true)
    expect(readdirSync(place, { recursive: true }).sort()).toEqual(['.assay-dump', 'mine.txt', 'two', 'two/notes.txt'])
  })

  test('loses nothing else, whatever the list says by now', async () => {
    const place = newFolder()
    const outside = newFolder()
    writeFileSync(join(outside, 'a.txt'), 'mine')
    mkdirSync(join(place, 'deep/er'), { recursive: true })
    writeFileSync(join(place, 'deep/er/a.txt'), 'mine')
    symlinkSync(outside, join(place, 'link'))
    symlinkSync(outside, join(place, '.scratch-0123456789ab'))
    const lines = [
      '',
      `../${outside.split('/').at(-1)}/a.txt`,
      join(outside, 'a.txt'),
      'link/a.txt',
      'deep/er/a.txt',
      '..',
      'deep',
      '.scratch-0123456789ab',
    ]
    writeFileSync(join(place, OWNER.marker), lines.join('\n'))
    await claim(place, true)
    expect(readdirSync(outside)).toEqual(['a.txt'])
    expect(readdirSync(place).sort()).toEqual(['.assay-dump', '.scratch-0123456789ab', 'deep', 'link'])
    expect(readFileSync(join(place, 'deep/er/a.txt'), 'utf8')).toBe('mine')
  })

  test('a file that is in the way is not replaced', async () => {
    const place = newFolder()
    writeFileSync(join(place, 'index.txt'), 'mine')
    const folder = await claim(place, true)
    await expect(folder.write('index.txt', 'ours')).rejects.toThrow('move it or give another folder')
    writeFileSync(join(place, 'new'), 'ours')
    await expect(folder.adopt('index.txt', join(place, 'new'))).rejects.toThrow('move it or give another folder')
    expect(readFileSync(join(place, 'index.txt'), 'utf8')).toBe('mine')
  })

  test('has a folder of its own for every text, whatever is in it', async () => {
    const folder = await claim(newFolder())
    const texts = [
      'a/b@ort:cpu',
      'a_b@ort_cpu',
      'A/B@ort:cpu',
      '../../etc',
      '..',
      '.',
      '\u001b[2J\n',
      '模型',
      '型模',
      'x'.repeat(100_000),
    ]
    const names = await Promise.all(texts.map((text) => folder.folderFor(text)))
    expect(names[0]).toBe('a_b@ort_cpu')
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(texts.length)
    for (const name of names) expect(name).toMatch(/^[\w@~,=+-][\w@~,=+.-]{0,199}$/)
    expect(await folder.folderFor('a/b@ort:cpu')).toBe(names[0])
  })
})
