import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listSpecs } from '../../options/table.ts'
import { readTarget } from '../../runtimes/registry.ts'
import { TEST_OPTIONS } from '../../suites/onnx/options.ts'
import type { CommandRequest } from '../invocation.ts'
import { folderWith, projectWith, requested } from '../testing/project.ts'
import { diagnose, withSurvey } from './diagnose.ts'
import { surveyTarget } from './survey.ts'
import { targetsHere } from './targets-here.ts'

/** In a folder without packages nothing is there that could be started. */
async function diagnosed(folder: string, more: Partial<CommandRequest> = {}) {
  const tried: string[] = []
  const diagnosis = await diagnose(requested(folder, more), listSpecs(TEST_OPTIONS), (target) => tried.push(target))
  const finding = (name: string) => diagnosis.findings.find((each) => each.name === name)
  const runtime = (target: string) => diagnosis.runtimes.find((each) => each.target === target)
  return { ...diagnosis, tried, finding, runtime }
}

describe('an empty folder', () => {
  test('is told what the first run installs, tries nothing and leaves nothing behind', async () => {
    const folder = folderWith()
    const { runtime, sides, tried, findings, finding, works } = await diagnosed(folder)
    expect(runtime('ort:cpu')).toMatchObject({
      state: 'first-use',
      reason: expect.stringMatching(/^the first run installs onnxruntime-node \d+\.\d+\.\d+$/),
    })
    expect(runtime('command')).toMatchObject({ state: 'untried', device: null })
    expect(runtime('torch:cpu')).toMatchObject({ state: 'missing', remedy: expect.stringContaining('setup python') })
    expect(sides.reference.map(({ target }) => target)).toEqual(['ort:cpu'])
    expect(findings.map(({ name }) => name)).toEqual([
      ...['node', 'machine', 'memory', 'disk', 'npm'],
      ...['config', 'models', 'kept', 'last run'],
    ])
    expect([tried, readdirSync(folder)]).toEqual([[], []])
    // Only npm can install it.
    expect(works).toBe(finding('npm')!.health === 'good')
  })

  test('offers what a project there could have under test', async () => {
    const targets = await targetsHere(folderWith(), process.env)
    expect(targets).toContain('ort-web:wasm')
    expect(targets).not.toContain('ort:cpu')
  })
})

test('a broken configuration and a mistyped variable are told together', async () => {
  const folder = folderWith({ 'assay.config.json': '{ "tragets": {} }' })
  const { finding, sides, works } = await diagnosed(folder, { environment: { ASSAY_TAGRET: 'x' } })
  expect(finding('environment')).toMatchObject({ health: 'broken', text: expect.stringContaining('"ASSAY_TARGET"') })
  expect(finding('config')).toMatchObject({
    health: 'broken',
    text: expect.stringContaining('did you mean "targets"?'),
  })
  expect([sides, works]).toEqual([{ reference: [], targets: [] }, false])
})

test('a variable that is nobody’s setting is worth a look', async () => {
  const { finding } = await diagnosed(folderWith(), { environment: { ASSAY_VERSION: '1.2.3' } })
  expect(finding('environment')).toMatchObject({ health: 'look', text: expect.stringContaining('has no effect') })
})

test('targets of the configuration are sides of a run, and secrets in them are not told', async () => {
  const target = ['command:./nothing,arg=--token=hunter2', 'recorded:./nowhere', 'ort@1.19.2:cpu', 'browser:wasm']
  const folder = folderWith({ 'assay.config.json': JSON.stringify({ target }) })
  const { sides, tried, works } = await diagnosed(folder)
  expect(sides.targets.map(({ state }) => state)).toEqual(['unavailable', 'unavailable', 'first-use', 'untried'])
  expect([tried.length, works]).toEqual([2, false])
  expect(JSON.stringify(sides)).not.toContain('hunter2')
})

test('a runtime that is installed is started and answers', async () => {
  const folder = projectWith()
  const tried: string[] = []
  const report = await withSurvey(
    { folder, environment: process.env },
    (name) => tried.push(name),
    (tools) => surveyTarget(readTarget('ort:cpu'), tools),
  )
  expect(report).toMatchObject({ state: 'ready', detail: { library: expect.stringMatching(/^onnxruntime-node \d/) } })
  expect(report.needs[0]!.path).toBe(join(folder, 'node_modules/onnxruntime-node'))
  expect(tried).toEqual(['ort:cpu'])
})
