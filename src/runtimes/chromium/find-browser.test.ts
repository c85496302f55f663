import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { findBrowser, locateBrowser, systemBrowser, usualBrowsers } from './find-browser.ts'

afterEach(() => vi.unstubAllEnvs())

/** A folder with programs (and, after a #, files that are none). */
async function folderWith(...names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-path-'))
  for (const name of names) {
    const path = join(folder, name.replace('#', ''))
    await writeFile(path, '#!/bin/sh\n')
    await chmod(path, name.startsWith('#') ? 0o644 : 0o755)
  }
  return folder
}

const context = (projectFolder: string) => ({
  environment: process.env,
  projectFolder,
  runtimesFolder: join(projectFolder, 'runtimes'),
  notice: () => {},
})

describe("the system's browser", () => {
  test.each([
    [['google-chrome', 'chromium'], 'chromium'],
    [['google-chrome-stable', 'google-chrome'], 'google-chrome'],
    [['chromium-browser', 'microsoft-edge'], 'chromium-browser'],
    [['#chromium', 'chrome'], 'chrome'],
  ])('of %j is %s', async (names, found) => {
    const folder = await folderWith(...names)
    expect(systemBrowser(folder)).toBe(join(folder, found))
  })

  test('of two folders is the better name, and of one name the first folder', async () => {
    const [first, second] = [await folderWith('google-chrome'), await folderWith('chromium', 'google-chrome')]
    expect(systemBrowser([first, second].join(delimiter))).toBe(join(second, 'chromium'))
    const third = await folderWith('chromium')
    expect(systemBrowser(['', second, third].join(delimiter))).toBe(join(second, 'chromium'))
  })

  test.skipIf(process.platform !== 'linux')('is none where there is none (elsewhere it has fixed places)', async () => {
    expect(systemBrowser(await folderWith('firefox', '#chromium'))).toBeNull()
    expect(systemBrowser('')).toBeNull()
  })
})

describe('the browser of a target', () => {
  test('is the one that it names, from the project or by name', async () => {
    const folder = await folderWith('my-browser')
    vi.stubEnv('PATH', folder)
    vi.stubEnv('CHROME_PATH', '/somewhere/else')
    const paths = ['./my-browser', join(folder, 'my-browser'), 'my-browser']
    for (const named of paths) expect(await findBrowser(named, context(folder))).toBe(join(folder, 'my-browser'))
  })

  test.each(['./nope', 'nope', './not-executable', 'not-executable'])('is not %s', async (named) => {
    const folder = await folderWith('#not-executable')
    vi.stubEnv('PATH', folder)
    await expect(findBrowser(named, context(folder))).rejects.toMatchObject({
      code: 'install',
      message: `browser=${named} is not a program that can be started`,
    })
  })

  test.each(['./a-folder', 'chromium'])('is no folder such as %s', async (named) => {
    const folder = await folderWith()
    for (const name of ['a-folder', 'chromium']) await mkdir(join(folder, name))
    vi.stubEnv('PATH', folder)
    await expect(findBrowser(named, context(folder))).rejects.toThrow('is not a program that can be started')
  })

  test('is CHROME_PATH or the one in PATH where it names none', async () => {
    const folder = await folderWith('chromium', 'other')
    vi.stubEnv('PATH', folder)
    vi.stubEnv('CHROME_PATH', '')
    expect(await findBrowser(undefined, context(folder))).toBe(join(folder, 'chromium'))
    vi.stubEnv('CHROME_PATH', join(folder, 'other'))
    expect(await findBrowser(undefined, context(folder))).toBe(join(folder, 'other'))
  })
})

describe('where a browser would come from', () => {
  test('is the one of the system, or the one that was named', async () => {
    const folder = await folderWith('chromium', 'my-browser')
    vi.stubEnv('PATH', folder)
    vi.stubEnv('CHROME_PATH', '')
    expect(await locateBrowser(undefined, context(folder))).toMatchObject({ path: join(folder, 'chromium') })
    expect(await locateBrowser('my-browser', context(folder))).toMatchObject({ path: join(folder, 'my-browser') })
    expect(usualBrowsers(folder)).toContainEqual({ name: 'chromium', path: join(folder, 'chromium') })
    expect(usualBrowsers(folder)).toContainEqual({ name: 'google-chrome', path: null })
  })

  test('that was named and is none says what to do', async () => {
    const folder = await folderWith()
    expect(await locateBrowser('./nothing', context(folder))).toMatchObject({
      path: null,
      onFirstUse: false,
      remedy: 'browser=./nothing is not a program that can be started; name another with browser=<path>',
    })
  })

  test.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('is npm where the system has none', async () => {
    const folder = await folderWith()
    vi.stubEnv('PATH', folder)
    vi.stubEnv('CHROME_PATH', '')
    const need = await locateBrowser(undefined, context(folder))
    expect(need).toMatchObject({ name: '@sparticuz/chromium', path: null, onFirstUse: true })
  })
})
