import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { type TarFile, tarByteLength, tarChunks } from './tar.ts'

function fileOf(folder: string, name: string, content: string, isExecutable = false): TarFile {
  const path = join(folder, name.replaceAll('/', '_'))
  writeFileSync(path, content)
  return { name, path, byteLength: Buffer.byteLength(content), isExecutable }
}

async function archive(files: readonly TarFile[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of tarChunks(files)) chunks.push(chunk)
  return joinBytes(chunks)
}

test('the system’s tar unpacks it: contents, executable bits, long and odd names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-tar-'))
  const long = `${'deep/'.repeat(22)}file with blanks and 'quotes'.txt`
  const files = [
    fileOf(folder, 'runner', '#!/bin/sh\n', true),
    fileOf(folder, 'empty', ''),
    fileOf(folder, 'sub/ümlaut', 'x'.repeat(512)),
    fileOf(folder, long, 'y'.repeat(700)),
  ]
  const bytes = await archive(files)
  expect(bytes.length).toBe(tarByteLength(files))
  const out = join(folder, 'out')
  mkdirSync(out)
  execFileSync('tar', ['-xf', '-', '-C', out], { input: bytes })
  for (const { name, path } of files) expect(readFileSync(join(out, name))).toEqual(readFileSync(path))
  expect(files.map(({ name }) => (statSync(join(out, name)).mode & 0o100) > 0)).toEqual([true, false, false, false])
  expect(await archive(files)).toEqual(bytes)
})

test('a file that changes on the way and a name that does not fit are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-tar-'))
  const file = fileOf(folder, 'a', 'abc')
  await expect(archive([{ ...file, byteLength: 2 }])).rejects.toThrow('changed while it was read')
  await expect(archive([{ ...file, name: 'n'.repeat(101) }])).rejects.toThrow('too long for an archive')
})
