import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { invoke } from '../../library/invocation.ts'
import { list } from '../../library/judge.ts'
import { folderWith, invoked, requested } from '../../library/testing/project.ts'
import type { SuiteWork } from '../contract.ts'

const CONFIG = JSON.stringify({ model_type: 'llama', architectures: ['LlamaForCausalLM'], num_hidden_layers: 40 })
const MODELS = { 'a/config.json': CONFIG, 'zoo/b/config.json': CONFIG }

async function listed(cwd: string, options: Record<string, unknown> = {}, more: object = {}) {
  const notices: string[] = []
  const request = requested(cwd, { command: 'expect', words: ['a'], options, ...more })
  const invocation = await invoke(request, (text) => notices.push(text))
  const { selected } = await list(invocation, (text) => notices.push(text))
  const { work, asked } = invocation.asked.at(-1)! as { work: SuiteWork; asked: unknown }
  return { selected, notices, work, asked }
}

const modelsOf = (ids: readonly string[]) => [...new Set(ids.map((id) => id.split('/output@')[0]!))]
const OUTPUT = { keyword: '/output@' }

describe('models', () => {
  test('are folders, and what lies below them, by their paths', async () => {
    const { selected } = await listed(folderWith(MODELS), { ...OUTPUT, model: ['zoo'] })
    expect(selected).toEqual(['a/output@torch:cpu', 'zoo/b/output@torch:cpu'])
  })

  test('of the configuration are judged by a run of everything, each as what its list says', async () => {
    const expectations = { decoder_models: ['../a'], tuple_output_models: ['../zoo/b'], expectationsDir: 'kept' }
    const folder = folderWith({ ...MODELS, 'sub/assay.config.json': JSON.stringify({ expectations }) })
    const options = { config: 'sub/assay.config.json', keyword: 'TestAIUModelsTupleOutput' }
    for (const more of [{ command: 'run', words: [] }, { words: [] }]) {
      const { selected } = await listed(folder, options, more)
      expect(selected).toEqual(['output', 'unfused', 'weight_keys'].map((scope) => `zoo/b/${scope}@torch:cpu`))
    }
  })

  test('with three layers are made of the configuration alone', async () => {
    const folder = folderWith(MODELS)
    const { selected, notices } = await listed(folder, { ...OUTPUT, micro: true })
    expect(modelsOf(selected)).toEqual(['a[micro]'])
    const path = /instead of a: (\S+)$/.exec(notices[0]!)![1]!
    const small = JSON.parse(readFileSync(join(folder, path, 'config.json'), 'utf8'))
    expect(small).toEqual({ ...JSON.parse(CONFIG), num_hidden_layers: 3 })
  })

  test('have lists for their layers and sections for their parts made as short', async () => {
    const part = { num_hidden_layers: 5, layer_types: ['a', 'b', 'a', 'b', 'a'], eos_token_id: [1, 2] }
    const config = { model_type: 'x', text_config: part, vision_config: { n_layer: 2, sizes: [1, 2] } }
    const folder = folderWith({ 'a/config.json': JSON.stringify(config) })
    const { notices } = await listed(folder, { micro: true })
    const path = /instead of a: (\S+)$/.exec(notices[0]!)![1]!
    expect(JSON.parse(readFileSync(join(folder, path, 'config.json'), 'utf8'))).toEqual({
      ...config,
      text_config: { num_hidden_layers: 3, layer_types: ['a', 'b', 'a'], eos_token_id: [1, 2] },
    })
  })
})

describe('what is refused', () => {
  test.each<[string, Record<string, unknown>, object]>([
    ['no model to expect anything of; give a Hugging Face folder or an id', {}, { words: [] }],
    ['--update captures one case and --capture all of them', { update: 'x', capture: true }, {}],
    ['--update captures one case and --strict-capture all of them', { update: 'x', strictCapture: true }, {}],
    ['no file or folder "zo"', { model: ['zo'] }, {}],
    ['no micro model of q can be made: its weights are quantised', { micro: true }, { words: ['q'] }],
    ['no micro model of o can be made: it brings its own code', { micro: true }, { words: ['o'] }],
  ])('%s', async (message, options, more) => {
    const folder = folderWith({
      ...MODELS,
      'q/config.json': JSON.stringify({ ...JSON.parse(CONFIG), quantization_config: {} }),
      'o/config.json': JSON.stringify({ ...JSON.parse(CONFIG), auto_map: {} }),
    })
    await expect(listed(folder, options, more)).rejects.toThrow(message)
  })

  test.each([
    [{ decoder_models: 'a' }, 'expectations.decoder_models: expected a list of folders or ids'],
    [{ tuple_models: [] }, 'unknown key "tuple_models"'],
    [[], 'expectations: expected an object'],
  ])('%j in a configuration', async (expectations, message) => {
    const folder = folderWith({ 'assay.config.json': JSON.stringify({ expectations }) })
    await expect(invoked(folder, { command: 'run' })).rejects.toThrow(message)
  })
})

test('where no case is found, it is told why', async () => {
  const folder = folderWith({ ...MODELS, 'x.onnx': '' })
  const why = async (options: Record<string, unknown>, words: string[]) => {
    const { work, asked } = await listed(folder, options, { words })
    return work.whyNothing!(asked)
  }
  expect(await why({ keyword: 'nothing' }, ['a'])).toBe('no case of a matches -k "nothing"; --list prints all ids')
  expect(await why({}, ['x.onnx'])).toBe(
    'no Hugging Face folder in x.onnx; a snapshot is of a folder with a config.json',
  )
})

test('models and snapshots are watched', async () => {
  const folder = folderWith(MODELS)
  const { work, asked } = await listed(folder)
  const files = await work.watches!(asked)
  mkdirSync(join(folder, 'expectations'))
  writeFileSync(join(folder, 'expectations/a.json'), '{}')
  const { models, others } = await files()
  expect([...models.values()]).toEqual([[join(folder, 'a/config.json')]])
  expect(others).toEqual([join(folder, 'expectations/a.json')])
})
