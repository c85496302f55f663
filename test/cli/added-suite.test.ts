import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SUITES } from '../../src/suites/registry.ts'
import { beginAssay, project, type Ran } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { affineModel } from '../support/small-models.ts'
import { TEXTS } from './text-suite.ts'

/** All that it takes to add a suite. */
const WITH_TEXTS = [...SUITES, TEXTS]

const FILES = { 'short.txt': 'a few words\n', 'long.txt': `${'word '.repeat(30)}\n` }
const CONFIG = { texts: { files: ['short.txt'], longest: 20 } }
const withConfig = () => project({ ...FILES, 'assay.config.json': JSON.stringify(CONFIG) })

const assay = (words: string, folder: string, env = {}): Promise<Ran> =>
  beginAssay(words.split(' '), folder, env, WITH_TEXTS).end

test('it has a command, and help for it', async () => {
  const { stdout } = await assay('--help', project())
  expect(stdout).toMatch(/^ {2}text \[options\] \[files\.\.\.\] +judge texts by their longest line$/m)
  expect((await assay('text --help', project())).stdout).toMatch(
    /^Texts:\n[\s\S]*--longest <n> +longest line that passes/m,
  )
})

test('its cases are judged, reported and recorded, with the command that judges one again', async () => {
  const folder = project(FILES)
  const report = 'text short.txt long.txt --reporter terminal --reporter junit:junit.xml'
  const { code, stdout } = await assay(report, folder)
  expect([code, stdout]).toEqual([1, expect.stringContaining('a line has 150 characters, allowed are 80')])
  expect(stdout).toContain("reproduce  assay text short.txt long.txt -t '^long\\.txt/lines@text$'")
  const junit = readFileSync(join(folder, 'junit.xml'), 'utf8')
  expect(junit).toMatch(/name="lines@text"[\s\S]*<failure [^>]*a line has 150 characters/)
  const again = await assay('text short.txt long.txt -t ^long --json', folder)
  expect(JSON.parse(again.stdout).results).toMatchObject([{ suite: 'texts', verdict: 'fail' }])
  expect((await assay('list --steps long.txt/lines@text', folder)).stdout).toContain('read ')
  expect((await assay('text long.txt --longest 200', folder)).code).toBe(0)
})

test('its section of the configuration is checked, run, listed and explained', async () => {
  const folder = withConfig()
  expect(await assay('list', folder)).toMatchObject({ code: 0, stdout: 'short.txt/lines@text\n' })
  expect(await assay('run', folder)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') })
  const explained = await assay('config --show-origin', folder)
  expect(explained.stdout).toMatch(/longest +20 +assay\.config\.json:texts\.longest/)
  writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ texts: { longst: 20 } }))
  const { code, stderr } = await assay('run', folder)
  expect([code, stderr]).toEqual([4, expect.stringContaining('did you mean "longest"?')])
})

test('its mistyped words and variables get a suggestion', async () => {
  expect((await assay('txt long.txt', project())).stderr).toContain('Did you mean text?')
  expect((await assay('text --longst 3', project())).stderr).toContain('Did you mean --longest?')
  const { stderr } = await assay('text a.txt', project(), { ASSAY_LONGST: '3' })
  expect(stderr).toContain('did you mean "ASSAY_LONGEST"?')
})

test('a shell completes it', async () => {
  expect((await assay('__complete te', project())).stdout).toContain('text\tjudge texts')
  expect((await assay('__complete -- text --lon', project())).stdout).toContain('--longest\t')
})

test('--watch judges what changes', async () => {
  const folder = project(FILES)
  const watch = beginAssay(['text', 'short.txt', 'long.txt', '--watch'], folder, {}, WITH_TEXTS)
  const waits = (times: number) =>
    until(() => watch.stderr.text.split('waiting for changes').length > times, 'it waits for changes')
  await waits(1)
  expect(watch.stdout.text).toContain('1 passed, 1 failed')
  writeFileSync(join(folder, 'long.txt'), 'short now\n')
  await waits(2)
  expect(watch.stderr.text).toContain('changed: long.txt\n')
  expect(watch.stdout.text).toMatch(/1 case · run[\s\S]*1 passed in/)
  watch.interrupt()
  expect((await watch.end).code).toBe(0)
})

test('in a run of everything a change concerns only the suite whose model it is', async () => {
  const folder = project({ ...FILES, 'm.onnx': affineModel() })
  const config = { models: ['m.onnx'], target: 'ort:cpu,threads=2', texts: { files: ['short.txt'] } }
  writeFileSync(join(folder, 'assay.config.json'), JSON.stringify(config))
  const watch = beginAssay(['run', '--watch'], folder, {}, WITH_TEXTS)
  const waits = (times: number) =>
    until(() => watch.stderr.text.split('waiting for changes').length > times, 'it waits for changes')
  await waits(1)
  expect(watch.stdout.text).toContain('2 passed')
  writeFileSync(join(folder, 'short.txt'), 'fewer\n')
  await waits(2)
  expect(watch.stdout.text.split('2 passed')[1]).toMatch(/1 case · run[\s\S]*short\.txt[\s\S]*1 passed in/)
  watch.interrupt()
  expect((await watch.end).code).toBe(0)
})
