import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bootId, livenessOf, ownedName, ownerOf } from './process-identity.ts'
import { freshFolder } from './testing/tiny-suite.ts'
import { ulid } from './ulid.ts'

describe('which process still lives', () => {
  test('this one does, and owns what it names', () => {
    expect(livenessOf(process.pid, bootId(), Date.now())).toBe('alive')
    expect(ownerOf(ownedName(), '/nowhere')).toMatchObject({ mayLive: true })
  })

  test('a killed one does not', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const startedMs = Date.now()
    await once(child, 'spawn')
    expect(livenessOf(child.pid!, bootId(), startedMs)).toBe('alive')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(livenessOf(child.pid!, bootId(), startedMs)).toBe('dead')
  })

  test.runIf(process.platform === 'linux')('a process that got the id of an earlier one is not that one', () => {
    expect(livenessOf(process.pid, bootId(), Date.now() - 365 * 24 * 3600_000)).toBe('dead')
  })

  test('nothing is known about another boot or machine; its folders count as used for a day after their last change', () => {
    expect(livenessOf(process.pid, 'another-boot', Date.now())).toBe('elsewhere')
    const name = `1.another-boot.${ulid()}`
    const path = join(freshFolder(), name)
    mkdirSync(path)
    expect(ownerOf(name, path)?.mayLive).toBe(true)
    const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 3600
    utimesSync(path, twoDaysAgo, twoDaysAgo)
    expect(ownerOf(name, path)?.mayLive).toBe(false)
  })

  test('names of another form have no owner', () => {
    for (const name of ['', 'notes', '1.2', `x.boot.${ulid()}`, `1.boot.${ulid()}.more`])
      expect(ownerOf(name, '/nowhere')).toBeNull()
  })
})
