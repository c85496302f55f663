import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { bootId } from '../../files/disk/process-identity.ts'
import { ulid } from '../../files/disk/ulid.ts'
import { freshFolder, makeKey } from '../testing/tiny-suite.ts'
import { ProductCache } from './cache.ts'
import { cacheStatus, clearCache, findProductFolder, pruneCache } from './cache-upkeep.ts'
import { evictProduct, readProduct, useTimeMs } from './stored-product.ts'

const KEEP = { replace: false }
const DEAD_PID = 2 ** 22 + 1

function writing(text: string, value: unknown = text) {
  return async (folder: string) => {
    await writeFile(join(folder, 'data.bin'), text)
    return value
  }
}

/** The only product of a key; undefined: there is none. */
function productFolder(folder: string, key: string): string | undefined {
  const shelf = findProductFolder(folder, key)
  const names = existsSync(shelf) ? readdirSync(shelf) : []
  expect(names.length).toBeLessThan(2)
  return names[0] && join(shelf, names[0])
}

function use(folder: string, key: string, secondsAgo: number): void {
  const at = Date.now() / 1000 - secondsAgo
  utimesSync(join(productFolder(folder, key)!, 'product.json'), at, at)
}

async function filled(folder: string, ...names: string[]): Promise<void> {
  const cache = await ProductCache.open({ folder })
  for (const name of names) await cache.make(makeKey(name), writing('x'.repeat(1000), 1), KEEP)
  await cache.close()
}

function becomeFolder(at: string): void {
  rmSync(join(at, 'data.bin'))
  mkdirSync(join(at, 'data.bin'))
}

function changeByte(at: string): void {
  const content = readFileSync(join(at, 'data.bin'))
  content[0] = content[0]! ^ 1
  writeFileSync(join(at, 'data.bin'), content)
}

describe('the cache of products', () => {
  test('gives back value and files, also to a later process', async () => {
    const folder = freshFolder()
    const first = await ProductCache.open({ folder })
    expect(await first.find(makeKey('a'))).toBeNull()
    const made = await first.make(makeKey('a'), writing('hello', { worst: Number.NaN }), KEEP)
    expect(made.value).toEqual({ worst: Number.NaN })
    await first.close()
    const second = await ProductCache.open({ folder })
    const found = await second.find(makeKey('a'))
    expect(found?.value).toEqual({ worst: Number.NaN })
    expect(readFileSync(join(found!.folder, 'data.bin'), 'utf8')).toBe('hello')
    await second.close()
  })

  test('a step that fails leaves nothing', async () => {
    const folder = freshFolder()
    const cache = await ProductCache.open({ folder })
    const failing = async (at: string) => {
      await writeFile(join(at, 'half'), 'half')
      throw new Error('broke')
    }
    await expect(cache.make(makeKey('a'), failing, KEEP)).rejects.toThrow('broke')
    expect(await cache.find(makeKey('a'))).toBeNull()
    await cache.close()
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
  })

  test.each<[string, (folder: string) => void]>([
    ['a file was cut short', (at) => truncateSync(join(at, 'data.bin'), 3)],
    ['a file grew', (at) => writeFileSync(join(at, 'data.bin'), 'x'.repeat(2000))],
    ['a byte of a file changed', changeByte],
    ['a file is gone', (at) => rmSync(join(at, 'data.bin'))],
    ['a file became a folder', becomeFolder],
    ['product.json is gone', (at) => rmSync(join(at, 'product.json'))],
    ['product.json is torn', (at) => truncateSync(join(at, 'product.json'), 20)],
    ['product.json is empty', (at) => truncateSync(join(at, 'product.json'), 0)],
    ['product.json is of another kind', (at) => writeFileSync(join(at, 'product.json'), '[1]')],
  ])('is no hit and removed when %s', async (_what, damage) => {
    const folder = freshFolder()
    await filled(folder, 'a')
    damage(productFolder(folder, makeKey('a'))!)
    const cache = await ProductCache.open({ folder })
    expect(await cache.find(makeKey('a'))).toBeNull()
    expect(productFolder(folder, makeKey('a'))).toBeUndefined()
    const remade = await cache.make(makeKey('a'), writing('again'), KEEP)
    expect(remade.value).toBe('again')
    await cache.close()
  })

  test('a product stored under another key is no hit', async () => {
    const folder = freshFolder()
    await filled(folder, 'ab')
    const cache = await ProductCache.open({ folder })
    const { renameSync } = await import('node:fs')
    renameSync(findProductFolder(folder, makeKey('ab')), findProductFolder(folder, makeKey('abc')))
    expect(await cache.find(makeKey('abc'))).toBeNull()
    await cache.close()
  })

  test('of two that make the same key at once, the slower takes the product of the faster', async () => {
    const folder = freshFolder()
    const [a, b] = [await ProductCache.open({ folder }), await ProductCache.open({ folder })]
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = a.make(makeKey('k'), (at) => gate.then(() => writing('slow')(at)), KEEP)
    await b.make(makeKey('k'), writing('fast'), KEEP)
    release()
    expect((await slow).value).toBe('fast')
    await Promise.all([a.close(), b.close()])
    expect((await cacheStatus(folder)).products).toBe(1)
  })

  test('a key that is a path is refused', async () => {
    const cache = await ProductCache.open({ folder: freshFolder() })
    await expect(cache.find('../../../../etc/passwd')).rejects.toThrow(/no content key/)
    await cache.close()
  })

  test('a product that holds a link is refused', async () => {
    const cache = await ProductCache.open({ folder: freshFolder() })
    const { symlink } = await import('node:fs/promises')
    const linking = (at: string) => symlink('/etc/passwd', join(at, 'link'))
    await expect(cache.make(makeKey('k'), linking, KEEP)).rejects.toThrow(/no regular file/)
    await cache.close()
  })
})

describe('the upkeep of the cache', () => {
  test('temporary folders of dead processes are removed, those of living ones stay', async () => {
    const folder = freshFolder()
    const dead = `${DEAD_PID}.${bootId()}.${ulid()}`
    const alive = `${process.pid}.${bootId()}.${ulid()}`
    for (const name of [dead, alive]) {
      mkdirSync(join(folder, 'tmp', name, '1'), { recursive: true })
      writeFileSync(join(folder, 'tmp', name, '1', 'half.bin'), 'half a product')
    }
    const cache = await ProductCache.open({ folder })
    expect(existsSync(join(folder, 'tmp', dead))).toBe(false)
    expect(existsSync(join(folder, 'tmp', alive, '1', 'half.bin'))).toBe(true)
    await cache.close()
  })

  test('pruning evicts what was used least recently', async () => {
    const folder = freshFolder()
    await filled(folder, 'old', 'new', 'mid')
    use(folder, makeKey('old'), 3000)
    use(folder, makeKey('mid'), 2000)
    use(folder, makeKey('new'), 1000)
    const { bytes } = await cacheStatus(folder)
    const outcome = await pruneCache({ folder, maxBytes: bytes - 1500 })
    expect(outcome).toMatchObject({ removed: 2, products: 1 })
    expect(outcome.bytes + outcome.removedBytes).toBe(bytes)
    expect(productFolder(folder, makeKey('new'))).toBeDefined()
  })

  test('a hit counts as use', async () => {
    const folder = freshFolder()
    await filled(folder, 'aa', 'bb')
    use(folder, makeKey('aa'), 3000)
    use(folder, makeKey('bb'), 2000)
    const cache = await ProductCache.open({ folder })
    await cache.find(makeKey('aa'))
    await cache.close()
    await pruneCache({ folder, maxBytes: 1500 })
    expect(productFolder(folder, makeKey('aa'))).toBeDefined()
    expect(productFolder(folder, makeKey('bb'))).toBeUndefined()
  })

  test('a budget is kept by evicting, but never what a running run uses', async () => {
    const folder = freshFolder()
    await filled(folder, 'before', 'shared')
    use(folder, makeKey('before'), 3000)
    use(folder, makeKey('shared'), 4000)
    const notices: string[] = []
    const other = await ProductCache.open({ folder })
    await other.find(makeKey('shared'))
    const cache = await ProductCache.open({ folder, maxBytes: 1500, notice: (text) => notices.push(text) })
    await cache.make(makeKey('now1'), writing('x'.repeat(1000), 1), KEEP)
    await cache.make(makeKey('now2'), writing('x'.repeat(1000), 1), KEEP)
    await cache.close()
    const kept = ['before', 'shared', 'now1', 'now2'].filter((name) => productFolder(folder, makeKey(name)))
    expect(kept).toEqual(['shared', 'now1', 'now2'])
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatch(/over its budget/)
    expect(await clearCache(folder)).toMatchObject({ removed: 0, products: 3 })
    await other.close()
    expect(await clearCache(folder)).toMatchObject({ removed: 3, products: 0, bytes: 0 })
  })

  test('a clock that is set back does not make what a run uses look old', async () => {
    const folder = freshFolder()
    await filled(folder, 'before')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    const cache = await ProductCache.open({ folder })
    vi.useRealTimers()
    await cache.find(makeKey('before'))
    await cache.make(makeKey('now'), writing('x'), KEEP)
    expect(await clearCache(folder)).toMatchObject({ removed: 0, products: 2 })
    await cache.close()
    expect(await clearCache(folder)).toMatchObject({ removed: 2 })
  })

  test('a product that was used after it was seen is not evicted', async () => {
    const folder = freshFolder()
    await filled(folder, 'a')
    const product = productFolder(folder, makeKey('a'))!
    const seenUseMs = (await useTimeMs(product)) - 5
    expect(await evictProduct(product, seenUseMs, join(folder, 'tmp', 'aside'))).toBe(false)
    expect(await readProduct(product, makeKey('a'))).toMatchObject({ folder: product })
    expect(readdirSync(product).sort()).toEqual(['data.bin', 'product.json'])
    expect(await evictProduct(product, await useTimeMs(product), join(folder, 'tmp', 'aside'))).toBe(true)
    expect(await readProduct(product, makeKey('a'))).toBe('missing')
    expect(readdirSync(join(folder, 'tmp'))).toEqual([])
  })

  test('a product that a living process is evicting is no hit; the mark of a dead one does not count', async () => {
    const folder = freshFolder()
    await filled(folder, 'a')
    const product = productFolder(folder, makeKey('a'))!
    writeFileSync(join(product, `evicting.${DEAD_PID}.${bootId()}.${ulid()}`), '')
    expect(await readProduct(product, makeKey('a'))).toMatchObject({ folder: product })
    writeFileSync(join(product, `evicting.${process.pid}.${bootId()}.${ulid()}`), '')
    expect(await readProduct(product, makeKey('a'))).toBe('missing')
  })

  test('what was made anew is found; what it replaced stays whole for who reads it, until it is pruned', async () => {
    const folder = freshFolder()
    const cache = await ProductCache.open({ folder })
    const old = await cache.make(makeKey('k'), writing('old'), KEEP)
    await cache.make(makeKey('k'), writing('new'), { replace: true })
    expect(readFileSync(join(old.folder, 'data.bin'), 'utf8')).toBe('old')
    expect((await cache.find(makeKey('k')))?.value).toBe('new')
    await cache.close()
    expect(await clearCache(folder)).toMatchObject({ removed: 2, products: 0 })
    expect(existsSync(findProductFolder(folder, makeKey('k')))).toBe(false)
  })

  test('clearing leaves alone what is not ours, and a missing cache is an empty one', async () => {
    const folder = freshFolder()
    await filled(folder, 'aa')
    mkdirSync(join(folder, 'photos'))
    writeFileSync(join(folder, 'photos', 'cat.jpg'), '')
    writeFileSync(join(folder, 'no'), '')
    await clearCache(folder)
    expect(existsSync(join(folder, 'photos', 'cat.jpg'))).toBe(true)
    expect(await cacheStatus(join(folder, 'nowhere'))).toMatchObject({
      products: 0,
      bytes: 0,
      oldestUseAt: null,
      runs: 0,
    })
  })

  test('a cache folder that cannot be made is one line that says what to do', async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'file'), '')
    await expect(ProductCache.open({ folder: join(folder, 'file', 'cache') })).rejects.toThrow(/choose another folder/)
  })
})
