import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bootId, checkLiveness, findOwner, ownedName, ownIdentity } from './process-identity.ts'
import { ulid } from './ulid.ts'

/** This process's own ones never go back in time. */
function ulidAt(atMs: number): string {
  const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  const time = Array.from({ length: 10 }, (_, i) => ALPHABET[Math.floor(atMs / 32 ** (9 - i)) % 32])
  return time.join('') + '0'.repeat(16)
}

describe('which process still lives', () => {
  test('this one does, and owns what it names', () => {
    expect(checkLiveness(ownIdentity(), Date.now())).toBe('alive')
    expect(findOwner(ownedName(), '/nowhere')).toMatchObject({ mayLive: true })
  })

  test('a killed one does not', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const startedMs = Date.now()
    await once(child, 'spawn')
    expect(checkLiveness({ pid: child.pid!, bootId: bootId() }, startedMs)).toBe('alive')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(checkLiveness({ pid: child.pid!, bootId: bootId() }, startedMs)).toBe('dead')
  })

  test.runIf(process.platform === 'linux')('a process that got the id of an earlier one is not that one', () => {
    const { startTicks, ...ofEarlier } = ownIdentity()
    const aYearAgo = Date.now() - 365 * 24 * 3600_000
    expect(checkLiveness(ofEarlier, aYearAgo)).toBe('dead')
    expect(checkLiveness({ ...ofEarlier, startTicks: startTicks! - 1 }, Date.now())).toBe('dead')
    expect(findOwner(ownedName().replace(/\d+$/, '7'), '/nowhere')).toMatchObject({ mayLive: false })
  })

  test.runIf(process.platform === 'linux')('a clock that is set, forward or back, does not change who lives', () => {
    const [pid, boot, , ticks] = ownedName().split('.')
    for (const hours of [-24, -1, 1, 24]) {
      const atMs = Date.now() + hours * 3600_000
      expect(checkLiveness(ownIdentity(), atMs)).toBe('alive')
      expect(findOwner([pid, boot, ulidAt(atMs), ticks].join('.'), '/nowhere')).toMatchObject({ mayLive: true })
    }
  })

  test('a name without a start, as earlier versions gave it, is judged by the time in it', () => {
    expect(findOwner(`${process.pid}.${bootId()}.${ulid()}`, '/nowhere')).toMatchObject({ mayLive: true })
    expect(findOwner(`${2 ** 22 + 1}.${bootId()}.${ulid()}`, '/nowhere')).toMatchObject({ mayLive: false })
  })

  test('nothing is known about another boot or machine; its folders count as used for a day after their last change', () => {
    expect(checkLiveness({ pid: process.pid, bootId: 'another-boot' }, Date.now())).toBe('elsewhere')
    const name = `1.another-boot.${ulid()}`
    const path = join(mkdtempSync(join(tmpdir(), 'assay-')), name)
    mkdirSync(path)
    expect(findOwner(name, path)?.mayLive).toBe(true)
    const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 3600
    utimesSync(path, twoDaysAgo, twoDaysAgo)
    expect(findOwner(name, path)?.mayLive).toBe(false)
  })

  test('names of another form have no owner', () => {
    for (const name of ['', 'notes', '1.2', `x.boot.${ulid()}`, `1.boot.${ulid()}.more`, `1.boot.${ulid()}.5.6`])
      expect(findOwner(name, '/nowhere')).toBeNull()
  })
})
