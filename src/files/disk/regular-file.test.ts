import { execFileSync } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openNpy } from '../formats/npy.ts'
import { openTrace } from '../formats/safetensors.ts'
import { sha256File } from './digest.ts'
import { openPart } from './file-part.ts'
import { readRegularFile, readText, readTextSync } from './regular-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-'))
const pipe = join(folder, 'pipe')
execFileSync('mkfifo', [pipe])
const endless = join(folder, 'endless')
symlinkSync('/dev/zero', endless)
const file = join(folder, 'file')
writeFileSync(file, 'text')

const READERS: Record<string, (path: string) => unknown> = {
  readRegularFile,
  readText,
  readTextSync,
  sha256File,
  openPart: (path) => openPart({ path, start: 0 }),
  openNpy: (path) => openNpy(path),
  openTrace,
}

test.each(Object.entries(READERS))('%s refuses pipes, devices and folders at once', async (_name, read) => {
  for (const path of [pipe, endless, folder]) {
    const reading = Promise.resolve().then(() => read(path))
    await expect(reading).rejects.toThrow(`${path} is not a regular file; give a file`)
  }
})

test('a file is read up to the limit that its reader has', async () => {
  expect(await readText(file, 4)).toBe('text')
  expect(readTextSync(file, 4)).toBe('text')
  const refusal = `${file} has 4 B, at most 3 B are read; give another file`
  await expect(readText(file, 3)).rejects.toThrow(refusal)
  expect(() => readTextSync(file, 3)).toThrow(refusal)
})
