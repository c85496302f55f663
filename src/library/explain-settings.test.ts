import { describe, expect, test } from 'vitest'
import { explainSettings } from './explain-settings.ts'
import type { CommandRequest } from './invocation.ts'
import { folderWith, requested } from './testing/project.ts'

const CONFIG = {
  models: ['nets/*.onnx'],
  target: ['plain'],
  timeout: '2min',
  targets: { plain: 'ort:cpu,optimization=disabled', board: 'command:./runner,arg=--token=hunter2' },
  toolchains: { mine: { compile: ['cc', '{model}', '{artifact}'], run: ['sh', '{artifact}', '{input}', '{output}'] } },
  inputs: { 'speech*': { audio: 'voiced' } },
  dims: { '**': { batch: [1, 4] } },
  tolerances: [{ match: 'conv/**', rtol: 1e-3 }],
}
const folder = folderWith({ 'assay.config.json': JSON.stringify(CONFIG) })

async function explained(more: Partial<CommandRequest> = {}, cwd = folder) {
  const { file, groups } = await explainSettings(requested(cwd, more))
  const settings = groups.flatMap(({ settings }) => settings)
  const rows = settings.map(({ key, text, origin }) =>
    `${key} | ${text} | ${origin.source} ${origin.name ?? ''}`.trim(),
  )
  return { file, titles: groups.map(({ title }) => title), settings, rows }
}

describe('settings', () => {
  test('say of each value where it came from', async () => {
    const options = { rtol: '1e-4', keyword: 'mlp' }
    const { file, rows } = await explained({ options, environment: { ASSAY_SEED: '4' } })
    expect(file).toBe('assay.config.json')
    expect(rows).toEqual(
      expect.arrayContaining([
        'models | nets/*.onnx | config file assay.config.json:models',
        'reference | ort:cpu, or the recorded outputs | default',
        'target | plain | config file assay.config.json:target',
        '-k | mlp | command line -k',
        'seed | 4 | environment ASSAY_SEED',
        'rtol | 0.0001 | command line --rtol',
        'timeout | 120s | config file assay.config.json:timeout',
        'memoryLimit | 8gib | default',
      ]),
    )
  })

  test('have the sections that only a file can hold, each in a line', async () => {
    const { titles, rows } = await explained()
    expect(titles.slice(-5)).toEqual([
      'Targets by name',
      'Toolchains',
      'Inputs by model',
      'Dimensions by model',
      'Tolerances',
    ])
    expect(rows).toEqual(
      expect.arrayContaining([
        'plain | ort:cpu,optimization=disabled | config file assay.config.json:targets.plain',
        'mine compile | cc {model} {artifact} | config file assay.config.json:toolchains.mine.compile',
        'speech* audio | signal=voiced | config file assay.config.json:inputs.speech*.audio',
        '** batch | 1,4 | config file assay.config.json:dims.**.batch',
        '[0] | match=conv/** rtol=0.001 | config file assay.config.json:tolerances[0]',
      ]),
    )
  })

  test('of decoders and training are told where a configuration or a documented variable has them', async () => {
    const config = {
      decoders: { models: ['tiny'], topK: 5, batchSize: '1,8' },
      convergence: [{ testConfigPath: 'tests.yml', storagePath: 'results' }],
    }
    const project = folderWith({ 'assay.config.json': JSON.stringify(config) })
    const environment = { FMS_TEST_SHAPES_FAILURE_THRESHOLD: '0.02', ASSAY_MAX_NEW_TOKENS: '16' }
    const { titles, rows } = await explained({ environment }, project)
    expect(titles).toEqual(expect.arrayContaining(['Decoders', 'Decoders: judging logits', 'Convergence']))
    expect(rows).toEqual(
      expect.arrayContaining([
        'models | tiny | config file assay.config.json:decoders.models',
        'topK | 5 | config file assay.config.json:decoders.topK',
        'batchSize | 1,8 | config file assay.config.json:decoders.batchSize',
        'failureRate | 0.02 | environment FMS_TEST_SHAPES_FAILURE_THRESHOLD',
        'maxNewTokens | 16 | environment ASSAY_MAX_NEW_TOKENS',
        'logits | top | default',
        '[0] | testConfigPath=tests.yml storagePath=results | config file assay.config.json:convergence[0]',
      ]),
    )
    expect((await explained()).titles.filter((title) => /Decoders|Convergence/.test(title))).toEqual([])
  })

  test('never hold a secret', async () => {
    const options = { target: ['command:./runner,arg=--token=hunter2'] }
    const { rows, settings } = await explained({ options })
    expect(rows).toContain('target | command:./runner,arg=--token=*** | command line --target')
    expect(JSON.stringify(settings)).not.toContain('hunter2')
  })

  test('name models of the command line first, and the usual place without a file', async () => {
    expect((await explained({ words: ['a.onnx'] })).rows[0]).toBe('models | a.onnx | command line')
    const { file, rows } = await explained({}, folderWith())
    expect([file, rows[0]]).toEqual([null, 'models | models/**/*.onnx | default'])
  })

  test.each([
    [{ target: ['ortt:cpu'] }, 'unknown runtime "ortt" in target "ortt:cpu"; did you mean "ort"?'],
    [{ scope: 'ful' }, 'unknown --scope "ful"; did you mean "full"?'],
    [{ rtol: '1' }, 'rtol'],
  ])('are refused where a test would be: %j', async (options, message) => {
    await expect(explained({ options })).rejects.toThrow(message)
  })
})
