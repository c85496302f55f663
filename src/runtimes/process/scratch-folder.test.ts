import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { makeScratch, scratchFolder, sweepScratch } from './scratch-folder.ts'
import { isGone, ownerWords } from './scratch-owner.ts'

const newFolder = () => mkdtempSync(join(tmpdir(), 'assay-scratch-'))

/** The words of a process that was alive when they were written. */
async function wordsOfDead(): Promise<string> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const words = ownerWords(child.pid!)
  child.kill('SIGKILL')
  await once(child, 'exit')
  return words
}

function plant(folder: string, number: number, words: string | null): string {
  const name = `assay-chromium-${String(number).padStart(12, '0')}`
  mkdirSync(join(folder, name))
  if (words !== null) writeFileSync(join(folder, name, 'owner'), words)
  return name
}

test('a scratch folder is for its user alone', () => {
  const folder = scratchFolder('chromium', { TMPDIR: newFolder() })
  makeScratch(folder)
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
})

test('what a dead host left is removed, and nothing else', async () => {
  const folder = newFolder()
  const dead = await wordsOfDead()
  plant(folder, 1, dead)
  const kept = [
    plant(folder, 2, ownerWords(process.pid)),
    plant(folder, 3, null),
    plant(folder, 4, ''),
    plant(folder, 5, dead.replace(/\S+$/, 'another-machine')),
  ]
  mkdirSync(join(folder, 'assay-notes'))
  writeFileSync(join(folder, 'assay-notes', 'owner'), dead)
  const elsewhere = join(newFolder(), plant(newFolder(), 6, dead))
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'owner'), dead)
  const link = `assay-chromium-${'f'.repeat(12)}`
  symlinkSync(elsewhere, join(folder, link))
  await sweepScratch(folder)
  expect(readdirSync(folder).sort()).toEqual([...kept, link, 'assay-notes'].sort())
  expect(readdirSync(elsewhere)).toEqual(['owner'])
})

test('whoever asks for a folder has the temporary folder swept', async () => {
  const folder = newFolder()
  plant(folder, 1, await wordsOfDead())
  scratchFolder('toolchain', { TMPDIR: folder })
  await until(() => readdirSync(folder).length === 0, 'what was left is removed')
})

test('another process with the id of a dead one is another', () => {
  const [pid, start, space] = ownerWords(process.pid).split(' ')
  expect(isGone(`${pid} ${start} ${space}`)).toBe(false)
  expect(isGone(`${pid} 1 ${space}`)).toBe(process.platform === 'linux')
})

test.runIf(process.platform === 'linux')(
  'a process that has ended is gone before its parent asks for its end',
  async () => {
    // The program that the shell becomes never asks.
    const child = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
      const pid = line.trim()
      await until(() => /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')), 'it has ended')
      expect(isGone(ownerWords(Number(pid)))).toBe(true)
    } finally {
      child.kill('SIGKILL')
    }
  },
)
