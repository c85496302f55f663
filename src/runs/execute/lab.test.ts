import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../domain/clock.ts'
import { FormatError, SkipCase, StageError } from '../../domain/errors.ts'
import { TestClock } from '../../domain/testing/test-clock.ts'
import { ProductCache } from '../cache/cache.ts'
import { RunSpace } from '../cache/run-space.ts'
import type { StepSpec } from '../contract.ts'
import { freshFolder, makeKey } from '../testing/tiny-suite.ts'
import { CaseClock } from './case-clock.ts'
import { CaseLab, RunLab } from './lab.ts'

const spec = (name: string | null): StepSpec => ({
  title: `make ${name}`,
  stage: 'run',
  side: 'target',
  key: name === null ? null : makeKey(name),
})

async function openLab(folder = freshFolder(), recompute = false) {
  const cache = await ProductCache.open({ folder: join(folder, 'cache') })
  const space = new RunSpace({ onDisk: () => cache.makeFolder(), memory: null })
  const run = new RunLab({ cache, space, runFolder: join(folder, 'run'), recompute })
  const abort = new AbortController()
  const forCase = (limitMs: number | null = null, clock?: Clock) =>
    new CaseLab(run, new CaseClock(limitMs, abort.signal, clock), { onStep() {}, onProgress() {} })
  return { cache, forCase, abort, folder }
}

/** Work that counts how often it is done and ends when told. */
function countedWork() {
  const work = { count: 0, finish: () => {}, make: async () => work.count }
  const gate = new Promise<void>((resolve) => {
    work.finish = resolve
  })
  work.make = async () => {
    work.count++
    await gate
    return work.count
  }
  return work
}

describe('steps', () => {
  test('the first asker does the work, others await it', async () => {
    const { cache, forCase } = await openLab()
    const [a, b, c] = [forCase(), forCase(), forCase()]
    const work = countedWork()
    const first = a.step(spec('k'), work.make)
    const second = b.step(spec('k'), work.make)
    work.finish()
    expect([(await first).value, (await second).value]).toEqual([1, 1])
    expect((await c.step(spec('k'), work.make)).value).toBe(1)
    expect([a, b, c].map((lab) => lab.steps[0]?.cached)).toEqual([false, true, true])
    expect(a.steps[0]).toMatchObject({ title: 'make k', stage: 'run', side: 'target', key: makeKey('k') })
    await cache.close()
  })

  test('the next run finds the product; with recompute it is made anew, once', async () => {
    const folder = freshFolder()
    const made: string[] = []
    const oneRun = async (name: string, recompute: boolean) => {
      const { cache, forCase } = await openLab(folder, recompute)
      const make = async () => void made.push(name)
      await Promise.all([1, 2, 3].map(() => forCase().step(spec('k'), make)))
      await forCase().step(spec('k'), make)
      await cache.close()
    }
    await oneRun('first', false)
    await oneRun('second', false)
    await oneRun('third', true)
    expect(made).toEqual(['first', 'third'])
  })

  test('recompute gives the new product to everyone, also in later runs', async () => {
    const folder = freshFolder()
    const value = async (text: string, recompute: boolean) => {
      const { cache, forCase } = await openLab(folder, recompute)
      const product = await forCase().step(spec('k'), async () => text)
      await cache.close()
      return product.value
    }
    expect(await value('old', false)).toBe('old')
    expect(await value('new', true)).toBe('new')
    expect(await value('unused', false)).toBe('new')
  })

  test('a failure is the same error for everyone and leaves no product', async () => {
    const { cache, forCase } = await openLab()
    let count = 0
    const make = async (folder: string) => {
      count++
      await writeFile(join(folder, 'half'), 'half')
      throw new StageError('compile', 'no such op', { side: 'target' })
    }
    const errors = await Promise.all(
      [1, 2].map(() =>
        forCase()
          .step(spec('k'), make)
          .catch((error: unknown) => error),
      ),
    )
    const later = await forCase()
      .step(spec('k'), make)
      .catch((error: unknown) => error)
    expect(errors[0]).toBeInstanceOf(StageError)
    expect(errors[1]).toBe(errors[0])
    expect(later).toBe(errors[0])
    expect(count).toBe(1)
    expect(await cache.find(makeKey('k'))).toBeNull()
    await cache.close()
  })

  test('errors without a place get the place of their step; a skip stays a skip', async () => {
    const { cache, forCase } = await openLab()
    const failing = (name: string, error: unknown) =>
      forCase()
        .step(spec(name), () => Promise.reject(error))
        .catch((caught: unknown) => caught)
    expect(await failing('a', new FormatError('npy', 'no npy'))).toMatchObject({
      stage: 'run',
      side: 'target',
      message: 'no npy',
    })
    const bug = await failing('b', new TypeError('x is undefined'))
    expect(bug).toMatchObject({
      stage: 'run',
      message: 'unexpected TypeError: x is undefined (this is a bug in Assay)',
    })
    expect((bug as StageError).detail.stderr).toMatch(/at /)
    expect(await failing('c', 'text')).toMatchObject({ message: 'something that is no error was thrown: text' })
    expect(await failing('d', new SkipCase('no bf16'))).toBeInstanceOf(SkipCase)
    await cache.close()
  })

  test.each([
    ['EMFILE', 'ulimit -n 1024'],
    ['ENFILE', 'end other programs'],
  ])('%s, where no file can be opened any more, says what to do', async (code, advice) => {
    const { cache, forCase } = await openLab()
    const wrapped = new StageError('inputs', 'cannot', { cause: Object.assign(new Error('open'), { code }) })
    for (const [key, thrown] of [
      ['k', wrapped],
      ['l', wrapped.cause],
    ] as const) {
      const error = await forCase()
        .step(spec(key), () => Promise.reject(thrown))
        .catch((caught: unknown) => caught)
      expect((error as StageError).message).toContain(advice)
    }
    await cache.close()
  })

  test.each(['ENOSPC', 'EDQUOT', 'EFBIG'])('%s is an error that says what to do, wherever it hides', async (code) => {
    const { cache, forCase } = await openLab()
    const deep = new StageError('compile', 'cannot', { cause: Object.assign(new Error('write'), { code }) })
    const error = await forCase()
      .step(spec('k'), () => Promise.reject(deep))
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StageError)
    expect((error as StageError).message).toMatch(/(disk|quota|size limit).* "make k"; (free|raise)/)
    await cache.close()
  })

  test('a step without a key is made by every asker and its folder goes with the case', async () => {
    const { cache, forCase } = await openLab()
    const [a, b] = [forCase(), forCase()]
    const work = countedWork()
    work.finish()
    const first = await a.step(spec(null), work.make)
    await b.step(spec(null), work.make)
    expect(work.count).toBe(2)
    expect(existsSync(first.folder)).toBe(true)
    await a.close()
    expect(existsSync(first.folder)).toBe(false)
    await cache.close()
  })

  test('a first asker that runs out of time does not take the others with it', async () => {
    const { cache, forCase } = await openLab()
    const clock = new TestClock()
    const [late, patient] = [forCase(30_000, clock), forCase()]
    const first = late.step(spec('k'), () => new Promise<string>(() => {})).catch((error: unknown) => error)
    const second = patient.step(spec('k'), async () => 'made by the second')
    clock.runOut()
    expect(await first).toMatchObject({ message: expect.stringMatching(/not finished within 30 s/) })
    expect((await second).value).toBe('made by the second')
    expect(patient.steps[0]?.cached).toBe(false)
    await cache.close()
  })

  test('waiting for the work of another case does not count against the limit', async () => {
    const { cache, forCase } = await openLab()
    const clock = new TestClock()
    const work = countedWork()
    const slow = forCase().step(spec('k'), work.make)
    const limited = forCase(100, clock)
    clock.advance(60)
    const waiting = limited.step(spec('k'), async () => 'own')
    clock.advance(1000)
    work.finish()
    expect((await waiting).value).toBe(1)
    await slow
    clock.advance(39)
    const stuck = limited.step(spec('l'), () => new Promise(() => clock.advance(1)))
    await expect(stuck).rejects.toThrow(/not finished/)
    await cache.close()
  })

  test('an abort ends the waiting at once', async () => {
    const { cache, forCase, abort } = await openLab()
    const stuck = forCase().step(spec('k'), () => new Promise(() => {}))
    const waiting = forCase().step(spec('k'), async () => 1)
    const reason = new Error('now')
    abort.abort(reason)
    await expect(stuck).rejects.toBe(reason)
    await expect(waiting).rejects.toBe(reason)
    await cache.close()
  })
})

describe('keeping files', () => {
  test('stores by content, once, under a harmless name', async () => {
    const { cache, forCase, folder } = await openLab()
    const lab = forCase()
    const path = join(folder, 'trace')
    await writeFile(path, 'abc')
    await lab.keep('reference.safetensors', path)
    await lab.keep('reference.safetensors', path)
    await lab.keep('../../evil.s h', path)
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(lab.artifacts).toEqual([
      { name: 'reference.safetensors', path: `artifacts/${sha256}.safetensors`, bytes: 3, sha256 },
      { name: '../../evil.s h', path: `artifacts/${sha256}`, bytes: 3, sha256 },
    ])
    await writeFile(path, 'changed later')
    expect(readFileSync(join(folder, 'run', lab.artifacts[0]!.path), 'utf8')).toBe('abc')
    await cache.close()
  })

  test('a file that is not there is an error of the case', async () => {
    const { cache, forCase } = await openLab()
    await expect(forCase().keep('x', '/nowhere/x')).rejects.toBeInstanceOf(StageError)
    await cache.close()
  })
})
