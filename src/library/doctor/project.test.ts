import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { executeRun } from '../../runs/execute/execute.ts'
import { FAIL, PASS, runRequest, tinySuite } from '../../runs/testing/tiny-suite.ts'
import { folderWith, requested } from '../testing/project.ts'
import { examineRecords, examineSettings } from './project.ts'

describe('settings', () => {
  test('are told with the file and the models that they name', async () => {
    const folder = folderWith({ 'assay.config.json': '{ "models": ["nets"] }', 'nets/a.onnx': '' })
    const { settings, findings } = await examineSettings(requested(folder))
    expect(settings!.paths).toEqual(['nets'])
    expect(findings).toEqual([
      { name: 'config', health: 'good', text: 'assay.config.json' },
      { name: 'models', health: 'good', text: '1 in nets' },
    ])
  })

  test('without a file are the defaults, and without models that is worth a look', async () => {
    const { findings } = await examineSettings(requested(folderWith()))
    expect(findings).toMatchObject([
      { name: 'config', health: 'note', remedy: 'assay init writes one' },
      { name: 'models', health: 'look', text: 'none in models/**/*.onnx' },
    ])
  })

  test('that name a model which is not there say so', async () => {
    const { findings } = await examineSettings(requested(folderWith(), { words: ['nowhere.onnx'] }))
    expect(findings[1]).toMatchObject({ health: 'look', text: expect.stringContaining('nowhere.onnx') })
  })

  test('that are refused are broken, without their secrets', async () => {
    const config = JSON.stringify({ target: 'otr:cpu,arg=--token=hunter2' })
    const { settings, findings } = await examineSettings(requested(folderWith({ 'assay.config.json': config })))
    expect([settings, findings.length]).toEqual([null, 1])
    expect(findings[0]).toMatchObject({
      name: 'config',
      health: 'broken',
      text: expect.stringContaining('did you mean'),
    })
    expect(findings[0]!.text).not.toContain('hunter2')
  })
})

describe('records', () => {
  const judgedIn = (folder: string) => {
    const suite = tinySuite(['a', 'b'], async (c) => (c.id === 'a' ? PASS : FAIL))
    return executeRun(runRequest(join(folder, '.assay'), suite))
  }

  test('of a folder where nothing ran are none', async () => {
    expect(await examineRecords(folderWith(), null)).toEqual([
      { name: 'kept', health: 'note', text: 'cache none · runs none · runtimes none' },
      { name: 'last run', health: 'note', text: 'none' },
    ])
  })

  test('tell how the last run ended, how long ago, and what is kept', async () => {
    const folder = folderWith()
    await judgedIn(folder)
    const [kept, last] = await examineRecords(folder, null)
    expect(kept!.text).toMatch(/^cache .* · runs [\d.]+ KiB · runtimes none$/)
    expect(last).toMatchObject({ health: 'good', text: expect.stringMatching(/^\w{26}, .* ago: 1 pass, 1 fail$/) })
  })

  test('tell in days how old they are', async () => {
    const folder = folderWith()
    const path = join((await judgedIn(folder)).folder, 'run.json')
    const startedAt = new Date(Date.now() - 84 * 3_600_000).toISOString()
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), startedAt }))
    expect((await examineRecords(folder, null))[1]!.text).toContain(', 3 days ago: ')
  })

  test('that cannot be read are worth a look', async () => {
    const folder = folderWith()
    mkdirSync(join(folder, '.assay/runs/7ZZZZZZZZZZZZZZZZZZZZZZZZZ'), { recursive: true })
    expect((await examineRecords(folder, null))[1]).toMatchObject({ name: 'last run', health: 'look' })
  })
})
