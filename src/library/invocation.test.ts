import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeReproduce } from './invocation.ts'
import { folderWith, invoked, linkPackage, modelsAsked } from './testing/project.ts'

const CONFIG = { models: ['nets/*.onnx'], target: ['ort:cpu,threads=2'], seed: 3, timeout: '2min' }
const JSON_TEXT = JSON.stringify(CONFIG)

describe('a configuration', () => {
  test.each([
    ['assay.config.ts', `import { defineConfig } from 'assay'\nexport default defineConfig(${JSON_TEXT})\n`],
    ['assay.config.mjs', `export default ${JSON_TEXT}`],
    ['assay.config.json', JSON_TEXT],
    ['assay.config.yaml', 'models: [nets/*.onnx]\ntarget: [ "ort:cpu,threads=2" ]\nseed: 3\ntimeout: 2min\n'],
  ])('is read from %s', async (file, content) => {
    const folder = folderWith({ [file]: content })
    if (file.endsWith('.ts')) linkPackage(folder)
    const invocation = await invoked(folder)
    const { paths, targets, choices, common } = await modelsAsked(folder)
    expect([choices.seed, common.timeout]).toEqual([3, 120])
    expect([paths, targets.targets.map(({ name }) => name)]).toEqual([['nets/*.onnx'], ['ort:cpu,threads=2']])
    expect(makeReproduce(invocation)('a/full_model@x')).toContain(`--config ${file}`)
  })

  test('names targets, also long ones', async () => {
    const long = { runtime: 'ort', device: 'cpu', options: { optimization: 'disabled', threads: 2 } }
    const folder = folderWith({
      'assay.config.json': JSON.stringify({ targets: { quick: 'ort:cpu,threads=2', long } }),
    })
    const { targets } = await modelsAsked(folder, { options: { target: ['quick', 'long'] } })
    expect(targets.targets.map(({ name, options }) => [name, options])).toEqual([
      ['quick', expect.objectContaining({ threads: '2' })],
      ['long', expect.objectContaining({ optimization: 'disabled', threads: '2' })],
    ])
  })

  test.each([
    [{ tragets: {} }, 'unknown key "tragets" in assay.config.json; did you mean "targets"?'],
    [{ tolerances: [{ mtach: '*' }] }, /^assay\.config\.json: tolerances\.0: .*mtach/],
    [{ seed: 'three' }, '--seed takes a number of at least 0, found "three"'],
    [{ expected: ['a.yaml'] }, 'assay.config.json: expected: expected a path, found ["a.yaml"]'],
  ])('that says %j is refused', async (content, message) => {
    const folder = folderWith({ 'assay.config.json': JSON.stringify(content) })
    await expect(invoked(folder)).rejects.toThrow(message)
  })

  test('gives way to the environment, and that to the command line', async () => {
    const folder = folderWith({ 'assay.config.json': JSON_TEXT })
    const names = async (more: object) => (await modelsAsked(folder, more)).targets.targets.map(({ name }) => name)
    const environment = { ASSAY_TARGET: 'ort:cpu,threads=3 ort-web:wasm' }
    expect(await names({ environment })).toEqual(['ort:cpu,threads=3', 'ort-web:wasm'])
    expect(await names({ environment, options: { target: ['ort:cpu,threads=4'] } })).toEqual(['ort:cpu,threads=4'])
  })

  test('has the models of its targets beside itself, wherever it is used from', async () => {
    const targets = { other: 'ort:cpu,model=other.onnx', same: { runtime: 'ort', options: { model: 'same.onnx' } } }
    const config = JSON.stringify({ models: ['a.onnx'], targets, target: ['other', 'same'] })
    const folder = folderWith({
      'sub/assay.config.json': config,
      'sub/other.onnx': '',
      'sub/same.onnx': '',
      'sub/a.onnx': '',
    })
    const { targets: chosen } = await modelsAsked(folder, { options: { config: 'sub/assay.config.json' } })
    expect(chosen.targets.map(({ options }) => options.model)).toEqual([
      join('sub', 'other.onnx'),
      join('sub', 'same.onnx'),
    ])
  })
})
