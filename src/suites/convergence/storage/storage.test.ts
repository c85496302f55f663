import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { demoEntry, demoPlan, demoSidecar } from '../testing/demo-window.ts'
import { writeManifest } from './manifest.ts'
import { Storage } from './storage.ts'

test('manifest and sidecar lie beside each other, named after the test', () => {
  const storage = new Storage('/s', { name: 'demo' }, '/', 'known_good.JSON')
  expect([storage.manifestPath, storage.sidecarPath, storage.checkpoints]).toEqual([
    '/s/demo_known_good.JSON',
    '/s/demo_known_good.assay.json',
    '/s/ckpts',
  ])
})

test('changes that are asked for at once are made one after the other, also after one that failed', async () => {
  const planned = await demoPlan()
  const { storage } = planned
  await storage.write([demoEntry()], demoSidecar(planned))
  const renewal = (at: string) => ({ at, startSteps: [3], git: null })
  const add = (at: string) =>
    storage.change((manifest, sidecar) => [manifest, { ...sidecar!, renewals: [...sidecar!.renewals, renewal(at)] }])
  const failing = storage.change(() => {
    throw new Error('no')
  })
  const others = ['a', 'b', 'c'].map(add)
  await expect(failing).rejects.toThrow('no')
  await Promise.all(others)
  expect((await storage.sidecar())!.renewals.map(({ at }) => at)).toEqual(['a', 'b', 'c'])
})

test('what was learnt of a start is known to this run and, where there is a sidecar, to the next', async () => {
  const planned = await demoPlan()
  const { storage, cwd } = planned
  const next = () => new Storage(storage.folder, planned.test, cwd)
  await writeManifest(storage.manifestPath, [demoEntry()])
  expect([await storage.learnStart('next_step'), await storage.learntStart()]).toEqual([false, 'next_step'])
  expect(await next().learntStart()).toBeNull()
  await storage.write([demoEntry()], demoSidecar(planned))
  expect([await storage.learnStart('next_step'), await next().learntStart()]).toEqual([true, 'next_step'])
  await storage.learnStart(null)
  expect([await storage.learntStart(), await next().learntStart()]).toEqual([null, null])
})

test('a storage that cannot be made says where', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'storage-')), 'tests.yml')
  writeFileSync(file, '')
  await expect(new Storage(file, { name: 'demo' }, '/').create()).rejects.toThrow(
    /a part of .*tests\.yml\/ckpts is a file where a folder was expected/,
  )
})
