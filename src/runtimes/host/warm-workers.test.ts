import { existsSync, mkdirSync, mkdtempSync, symlinkSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/support/events.ts'
import { parseTarget, type Target } from '../../domain/target.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { DEFAULT_LIMITS, type Limits, type RuntimeSchema, type WorkerKind, type WorkerLaunch } from '../contract.ts'
import { writeWorkerScript } from '../testing/worker-script.ts'
import { createPool, type Pool } from './pool.ts'
import { WorkerProxy } from './proxy.ts'
import { launchKey, WarmWorkers } from './warm-workers.ts'

const SCHEMA: RuntimeSchema = { defaultDevice: 'cpu', options: { threads: '1' } }
const script = writeWorkerScript()
const LAUNCH: WorkerLaunch = { argv: [process.execPath, script], inherits: [], channel: 'stdout' }
const targetOf = (spec: string): Target => parseTarget(spec, { tiny: SCHEMA })
const TINY = targetOf('tiny:cpu')

let stores: WarmWorkers[] = []
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  stores = []
})

function newStore(): WarmWorkers {
  const store = new WarmWorkers()
  stores.push(store)
  return store
}

interface Settings {
  readonly launch?: Partial<WorkerLaunch>
  readonly kind?: Partial<WorkerKind>
  readonly limits?: Partial<Limits>
  readonly isolate?: 'case'
}

function poolWith(warm: WarmWorkers, { launch, kind, limits, isolate }: Settings = {}): Pool {
  const tiny: WorkerKind = {
    name: 'tiny',
    schema: SCHEMA,
    processOptions: ['threads'],
    launch: async () => ({ ...LAUNCH, ...launch }),
    ...kind,
  }
  const context = {
    environment: process.env,
    projectFolder: dirname(script),
    runtimesFolder: dirname(script),
    notice: () => {},
  }
  return createPool({
    size: 1,
    context,
    limits: { ...DEFAULT_LIMITS, ...limits },
    kinds: { tiny },
    warm,
    ...(isolate && { isolate }),
  })
}

/** Runs a model in a pool of its own; says in which process, and which sessions were open there. */
async function runOnce(warm: WarmWorkers, settings: Settings = {}, target = TINY, shareAs?: string) {
  const pool = poolWith(warm, settings)
  try {
    const captured = await pool.capture({
      target,
      side: 'target',
      model: { format: 'onnx', path: script },
      inputs: memoryTrace(new Map()),
      makeSink: async () => async () => {},
      ...(shareAs !== undefined && { shareAs }),
    })
    return { pid: Number(captured.detail.pid), open: captured.detail.open, alone: captured.alone }
  } finally {
    await pool.close()
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // Nobody has this id any more.
    return false
  }
}

async function startProxy(): Promise<{ worker: WorkerProxy; pid: number }> {
  const worker = await WorkerProxy.start(LAUNCH, 'cpu', DEFAULT_LIMITS)
  return { worker, pid: worker.probe.available ? Number(worker.probe.detail.pid) : 0 }
}

describe('workers that outlive their pool', () => {
  test('the next pool gets the process of the one before, where it is not alone', async () => {
    const store = newStore()
    const first = await runOnce(store)
    expect(first.alone).toBe(true)
    expect(await runOnce(store)).toMatchObject({ pid: first.pid, alone: false })
  })

  test('one with a folder of its own stays with it, and the folder goes when it ends', async () => {
    const store = newStore()
    const [own, another] = ['own', 'another'].map((name) => join(mkdtempSync(join(dirname(script), 'w-')), name))
    mkdirSync(own!)
    const first = await runOnce(store, { launch: { scratch: own! } })
    expect((await runOnce(store, { launch: { scratch: another! } })).pid).toBe(first.pid)
    expect(existsSync(own!)).toBe(true)
    await store.close()
    expect(existsSync(own!)).toBe(false)
  })

  test('a pool whose store is closed ends its workers', async () => {
    const closed = newStore()
    await closed.close()
    const { pid } = await runOnce(closed)
    expect(lives(pid)).toBe(false)
  })

  test('sessions that the earlier pool kept open are closed', async () => {
    const store = newStore()
    expect((await runOnce(store, {}, TINY, 'one model')).open).toBe('1')
    expect((await runOnce(store, {}, TINY, 'one model')).open).toBe('2')
  })

  test('a fresh worker is always a new process, and nobody gets it later', async () => {
    const store = newStore()
    const first = await runOnce(store)
    const second = await runOnce(store, { isolate: 'case' })
    expect(second).toMatchObject({ alone: true })
    expect(second.pid).not.toBe(first.pid)
    expect(lives(second.pid)).toBe(false)
    expect((await runOnce(store)).pid).toBe(first.pid)
  })

  const others: readonly (readonly [string, Settings, Target])[] = [
    ['limits', { limits: { runMs: 1234 } }, TINY],
    ['limits of its own', { launch: { limits: { memoryBytes: 1e12 } } }, TINY],
    ['environment', { launch: { env: { THREADS: '2' } } }, TINY],
    ['words', { launch: { argv: [process.execPath, script, 'more'] } }, TINY],
    ['working folder', { launch: { cwd: dirname(script) } }, TINY],
    ['device', {}, targetOf('tiny:other')],
    ['process options', {}, targetOf('tiny:cpu,threads=2')],
  ]
  test.each(others)('one with other %s is not taken', async (_what, settings, target) => {
    const store = newStore()
    const first = await runOnce(store)
    expect((await runOnce(store, settings, target)).pid).not.toBe(first.pid)
    expect((await runOnce(store)).pid).toBe(first.pid)
  })

  const bound: readonly (readonly [string, Settings])[] = [
    ['is heard by one run', { launch: { onOutput: () => {} } }],
    ['gives notices to one run', { launch: { notice: () => {} } }],
    ['is a foreign program', { launch: { isForeign: true } }],
    ['exists only once', { kind: { single: true } }],
  ]
  test.each(bound)('one that %s ends with its pool', async (_what, settings) => {
    const { pid } = await runOnce(newStore(), settings)
    expect(lives(pid)).toBe(false)
  })

  test('a worker that died while nobody used it is not handed out', async () => {
    const store = newStore()
    const { worker, pid } = await startProxy()
    await store.put('key', worker)
    process.kill(pid, 'SIGKILL')
    await until(() => worker.gone, 'it is known to be gone')
    expect(store.take('key')).toBeNull()
  })

  test('closing ends all of them, also one that comes back later', async () => {
    const store = newStore()
    const [first, second, late] = await Promise.all([startProxy(), startProxy(), startProxy()])
    await store.put('key', first.worker)
    await store.put('other', second.worker)
    await store.close()
    expect([first, second].map(({ pid }) => lives(pid))).toEqual([false, false])
    await store.put('key', late.worker)
    expect(lives(late.pid)).toBe(false)
    expect(store.take('key')).toBeNull()
  })

  test('of more than eight the one that was put back first is ended', async () => {
    const store = newStore()
    const all = await Promise.all(Array.from({ length: 9 }, startProxy))
    for (const [i, { worker }] of all.entries()) await store.put(`key ${i}`, worker)
    expect(lives(all[0]!.pid)).toBe(false)
    expect(store.take('key 0')).toBeNull()
    expect(all.slice(1).every(({ pid }) => lives(pid))).toBe(true)
  })
})

describe('what tells launches apart', () => {
  const keyOf = (argv: readonly string[]) =>
    launchKey({ argv, inherits: [], channel: 'stdout' }, 'tiny', DEFAULT_LIMITS)

  test('a link and what it leads to are one', async () => {
    const link = join(dirname(script), 'link.cjs')
    symlinkSync(script, link)
    expect(await keyOf([link])).toBe(await keyOf([script]))
  })

  test('a worker with another order is another', async () => {
    const keyWith = (order: object) =>
      launchKey({ argv: [script], channel: 'stdout', inherits: [], order }, 'tiny', DEFAULT_LIMITS)
    expect(await keyWith({ port: 1 })).toBe(await keyWith({ port: 1 }))
    expect(await keyWith({ port: 1 })).not.toBe(await keyWith({ port: 2 }))
  })

  test('two folders of their own do not tell workers apart, what lies there does', async () => {
    const keyIn = (scratch: string, name = 'modules') =>
      launchKey(
        { argv: [script], channel: 'stdout', inherits: [], scratch, env: { HOME: join(scratch, name) } },
        'tiny',
        DEFAULT_LIMITS,
      )
    expect(await keyIn('/tmp/scratch-a')).toBe(await keyIn('/tmp/scratch-b'))
    expect(await keyIn('/tmp/scratch-a')).not.toBe(await keyIn('/tmp/scratch-b', 'other'))
  })

  test('a file that was changed since is another', async () => {
    const path = writeWorkerScript()
    const before = await keyOf([path])
    expect(await keyOf([path])).toBe(before)
    await until(async () => {
      utimesSync(path, new Date(), new Date())
      return (await keyOf([path])) !== before
    }, 'its time is another')
  })
})
