import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CommandRequest } from './invocation.ts'
import { folderWith, invoked, scalingModel } from './testing/project.ts'
import { FileWatch } from './watched-files.ts'

const MODEL = scalingModel()
const OTHER = scalingModel(3)
const never = new AbortController().signal
const atOnce = async () => {}

async function watching(folder: string, more: Partial<CommandRequest> = {}, config?: string) {
  const watch = new FileWatch(folder, config, atOnce)
  await watch.begin(await invoked(folder, more))
  const change = async () => {
    const { files, models, suites } = await watch.change(never)
    const named = (paths: readonly string[]) => paths.map((path) => path.slice(folder.length + 1))
    return { files: named(files), models: models && named(models), suites }
  }
  return {
    change,
    write: (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content),
    watch,
  }
}

describe('a change', () => {
  test('of a model concerns that one alone, also where it is replaced or new', async () => {
    const folder = folderWith({ 'nets/a.onnx': MODEL, 'nets/b.onnx': MODEL })
    const { change, watch, write } = await watching(folder, { words: ['nets'] })
    write('nets/b.tmp', OTHER)
    renameSync(join(folder, 'nets/b.tmp'), join(folder, 'nets/b.onnx'))
    expect(await change()).toEqual({ files: ['nets/b.onnx'], models: ['nets/b.onnx'], suites: ['onnx'] })
    await watch.begin(await invoked(folder, { words: ['nets'] }))
    write('nets/c.onnx', OTHER)
    expect(await change()).toEqual({ files: ['nets/c.onnx'], models: ['nets/c.onnx'], suites: ['onnx'] })
  })

  test('of a Hugging Face folder concerns that folder alone', async () => {
    const config = '{ "model_type": "llama" }'
    const folder = folderWith({ 'nets/a.onnx': MODEL, 'nets/hf/config.json': config, 'nets/hf/model.safetensors': 'w' })
    const { change, write } = await watching(folder, { words: ['nets'] })
    write('nets/hf/model.safetensors', 'other weights')
    expect(await change()).toEqual({ files: ['nets/hf/model.safetensors'], models: ['nets/hf'], suites: ['folders'] })
  })

  test('of a model that goes concerns all', async () => {
    const folder = folderWith({ 'nets/a.onnx': MODEL, 'nets/b.onnx': MODEL })
    const { change } = await watching(folder, { words: ['nets'] })
    rmSync(join(folder, 'nets/b.onnx'))
    expect(await change()).toEqual({ files: ['nets/b.onnx'], models: null, suites: null })
  })

  test.each([
    ['the model that a target runs instead', 'other.onnx', { target: ['ort-web:wasm,model=other.onnx'] }],
    ['what is expected to fail', 'assay.expected.yaml', {}],
    ['a file that an input is read from', 'x.npy', { input: ['x=x.npy'] }],
  ])('of %s concerns all', async (_what, name, options) => {
    const folder = folderWith({ 'a.onnx': MODEL, 'other.onnx': MODEL })
    const { change, write } = await watching(folder, { words: ['a.onnx'], options })
    write(name, 'changed')
    expect(await change()).toEqual({ files: [name], models: null, suites: null })
  })

  test('of a tool of the toolchain under test concerns all', async () => {
    const mine = {
      compile: [process.execPath, 'tool.cjs', '{model}', '{artifact}'],
      run: [process.execPath, 'tool.cjs', '{artifact}', '{input}', '{output}'],
    }
    const config = JSON.stringify({ toolchains: { mine }, models: ['a.onnx'], target: 'toolchain:mine' })
    const folder = folderWith({ 'a.onnx': MODEL, 'tool.cjs': '', 'assay.config.json': config })
    const { change, write } = await watching(folder)
    write('tool.cjs', 'process.exitCode = 1')
    expect(await change()).toEqual({ files: ['tool.cjs'], models: null, suites: null })
  })

  test('of the configuration concerns all, and is seen where nothing else is known', async () => {
    const folder = folderWith({ 'assay.config.json': '{}', 'mine.json': '{}' })
    const watch = new FileWatch(folder, undefined, atOnce)
    await watch.begin(null)
    writeFileSync(join(folder, 'assay.config.json'), '{ "seed": 1 }')
    expect(await watch.change(never)).toEqual({
      files: [join(folder, 'assay.config.json')],
      models: null,
      suites: null,
    })
    const named = new FileWatch(folder, 'mine.json', atOnce)
    await named.begin(null)
    writeFileSync(join(folder, 'assay.config.json'), '{ "seed": 12 }')
    writeFileSync(join(folder, 'mine.json'), '{ "seed": 1 }')
    expect((await named.change(never)).files).toEqual([join(folder, 'mine.json')])
  })

  test('of a model that is not there yet is that it comes', async () => {
    const folder = folderWith()
    const { change, write } = await watching(folder, { words: ['a.onnx'] })
    write('a.onnx', 'no model')
    expect(await change()).toEqual({ files: ['a.onnx'], models: ['a.onnx'], suites: ['onnx'] })
  })
})

test('what is still being written is waited for', async () => {
  const folder = folderWith({ 'a.onnx': MODEL, 'b.onnx': MODEL })
  const later = ['b.onnx']
  const watch = new FileWatch(folder, undefined, async () => {
    for (const name of later.splice(0)) writeFileSync(join(folder, name), 'more')
  })
  await watch.begin(await invoked(folder, { words: ['a.onnx', 'b.onnx'] }))
  writeFileSync(join(folder, 'a.onnx'), 'more')
  const { files } = await watch.change(never)
  expect(files).toEqual([join(folder, 'a.onnx'), join(folder, 'b.onnx')])
})

test('waiting ends with its signal', async () => {
  const watch = new FileWatch(folderWith(), undefined)
  await watch.begin(null)
  const control = new AbortController()
  const waiting = watch.change(control.signal)
  control.abort()
  await expect(waiting).rejects.toThrow('aborted')
})
