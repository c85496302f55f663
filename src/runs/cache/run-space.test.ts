import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ownedName } from '../../files/disk/process-identity.ts'
import { RunSpace } from './run-space.ts'

const MEMORY = '/dev/shm'
const spaces: RunSpace[] = []
afterEach(async () => {
  for (const space of spaces.splice(0)) await space.close()
})

function openSpace(memory: string | null) {
  const disk = mkdtempSync(join(tmpdir(), 'assay-space-'))
  let folders = 0
  const onDisk = async () => {
    const path = join(disk, String(++folders))
    mkdirSync(path)
    return path
  }
  const space = new RunSpace({ onDisk, memory })
  spaces.push(space)
  return { space, isOnDisk: (path: string) => dirname(path) === disk }
}

test('without a file system in memory, and where the named one is none, folders are on the disk', async () => {
  for (const memory of [null, tmpdir(), '/nowhere']) {
    const { space, isOnDisk } = openSpace(memory)
    const folder = await space.makeFolder(10, 1000)
    expect(isOnDisk(folder.path) || memory === tmpdir()).toBe(true)
    await folder.remove()
    expect(existsSync(folder.path)).toBe(false)
  }
})

test.skipIf(!existsSync(MEMORY))(
  'a run has so much in memory and the rest on the disk, until something is removed',
  async () => {
    const { space, isOnDisk } = openSpace(MEMORY)
    const first = await space.makeFolder(600, 1000)
    const second = await space.makeFolder(600, 1000)
    expect([first, second].map(({ path }) => isOnDisk(path))).toEqual([false, true])
    writeFileSync(join(first.path, 'values'), 'x')
    await first.remove()
    const third = await space.makeFolder(600, 1000)
    expect(isOnDisk(third.path)).toBe(false)
    expect(isOnDisk((await space.makeFolder(Number.NaN, 1000)).path)).toBe(true)
    await space.close()
    expect(existsSync(dirname(third.path))).toBe(false)
  },
)

test.skipIf(!existsSync(MEMORY))('more than there is room for is on the disk', async () => {
  const { space, isOnDisk } = openSpace(MEMORY)
  expect(isOnDisk((await space.makeFolder(2 ** 50, Number.POSITIVE_INFINITY)).path)).toBe(true)
})

test.skipIf(!existsSync(MEMORY))('what runs that were killed left in memory is removed', async () => {
  const killed = join(MEMORY, `assay.${ownedName().replace(/^\d+/, '4194300')}`)
  mkdirSync(killed)
  const { space } = openSpace(MEMORY)
  await space.makeFolder(1, 1000)
  expect(existsSync(killed)).toBe(false)
})
