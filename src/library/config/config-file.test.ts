import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createJiti } from 'jiti'
import { expect, test } from 'vitest'
import { chosenConfig } from './config-file.ts'

/** Where jiti keeps what it compiled, unless it is told not to: everybody can make this folder first. */
const SHARED_CACHE = join(tmpdir(), 'jiti')

/** Compiles a file as any other process would, and puts other code under the name and the seal of the result. */
async function plant(path: string, code: string): Promise<void> {
  mkdirSync(SHARED_CACHE, { recursive: true })
  await createJiti(import.meta.url, { moduleCache: false, fsCache: SHARED_CACHE }).import(path)
  const entries = readdirSync(SHARED_CACHE).filter((name) => name.startsWith(`${basename(join(path, '..'))}-`))
  for (const name of entries) {
    const compiled = readFileSync(join(SHARED_CACHE, name), 'utf8')
    writeFileSync(join(SHARED_CACHE, name), `${code}\n${compiled}`)
  }
}

const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'assay-config-')))

test('a configuration is compiled here, whatever others left in the temporary folder', async () => {
  const folder = newFolder()
  const path = join(folder, 'assay.config.ts')
  writeFileSync(path, 'export default { seed: 3 }\n')
  await plant(path, 'globalThis.planted = (globalThis.planted ?? 0) + 1')
  const count = () => (globalThis as { planted?: number }).planted ?? 0
  await createJiti(import.meta.url, { moduleCache: false, fsCache: SHARED_CACHE }).import(path)
  expect(count()).toBe(1)
  expect((await chosenConfig({}, {}, folder)).config.seed).toBe(3)
  expect(count()).toBe(1)
})

test.each([
  [{ hw: 7 }, 'hw: expected text, found 7'],
  [{ chip: [] }, 'chip: expected text, found []'],
  [{ target: [7] }, 'target: expected text or a list of texts, found [7]'],
  [{ reference: {} }, 'reference: expected text or a list of texts, found {}'],
  [{ outputDir: { a: 1 } }, 'outputDir: expected a path, found {"a":1}'],
  [{ outputDir: ['x', 'y'] }, 'outputDir: expected a path, found ["x","y"]'],
  [{ cacheDir: true }, 'cacheDir: expected a path, found true'],
  [{ strict: {} }, 'strict: expected true or false, found {}'],
  [{ timeout: [5] }, 'timeout: expected seconds, such as 90 or "5min", found [5]'],
  [{ seed: null }, 'seed: expected a whole number from 0 up, found null'],
  [{ decoders: { topK: {} } }, 'decoders.topK: expected a whole number from 1 up, found {}'],
  [{ decoders: { metricsDir: 3 } }, 'decoders.metricsDir: expected a path, found 3'],
])('%j is refused, with what is expected there', async (config, problem) => {
  const folder = newFolder()
  writeFileSync(join(folder, 'assay.config.json'), JSON.stringify(config))
  await expect(chosenConfig({}, {}, folder)).rejects.toThrow(`assay.config.json: ${problem}`)
})

test('paths in a configuration are relative to its folder', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'sub'))
  const paths = { outputDir: 'out', cacheDir: '../cache', durations: 'd.json', expected: 'known.yaml' }
  const config = { ...paths, decoders: { prompts: 'p.txt', metricsDir: 'm' } }
  writeFileSync(join(folder, 'sub/assay.config.json'), JSON.stringify({ ...config, python: './py' }))
  const loaded = await chosenConfig({ config: 'sub/assay.config.json' }, {}, folder)
  expect(loaded.config).toMatchObject({
    outputDir: 'sub/out',
    cacheDir: 'cache',
    durations: 'sub/d.json',
    expected: 'sub/known.yaml',
    python: 'sub/py',
    decoders: { prompts: 'sub/p.txt', metricsDir: 'sub/m' },
  })
})

test('a program without a slash is looked for in PATH, wherever the configuration is', async () => {
  const folder = newFolder()
  mkdirSync(join(folder, 'sub'))
  const pythonOf = async (place: string, python: string) => {
    writeFileSync(join(folder, place), JSON.stringify({ python }))
    return (await chosenConfig({ config: place }, {}, folder)).config.python
  }
  expect(await pythonOf('sub/assay.config.json', 'python3.12')).toBe('python3.12')
  expect(await pythonOf('assay.config.json', './python')).toBe('./python')
})
