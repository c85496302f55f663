import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandLineTable } from '../../src/cli/commands.ts'
import { ended, project, root, startAssay, temporaryFolder } from '../support/assay.ts'
import { writePlanted } from '../support/diff-tensors.ts'
import { affineModel } from '../support/small-models.ts'

/** What each command is asked, its exit code, and what it says then. */
const SMOKE: Readonly<Record<string, readonly [words: string, code: number, says: RegExp]>> = {
  test: ['a.onnx --target ort:cpu,threads=2', 0, /1 passed/],
  run: ['--config assay.config.json', 0, /1 passed/],
  list: ['a.onnx', 0, /^a\/full_model@ort:cpu,threads=2$/m],
  decoders: ['test model --list --target ort-web:wasm', 0, /^model\/b\d+\/s\d+\/n\d+@ort-web:wasm$/m],
  expect: ['model --list', 0, /^model\/output@ort:cpu,threads=2$/m],
  layers: ['model --mode model-forward --list', 0, /^model\/b4\/s64\/n0@ort:cpu,threads=2$/m],
  thresholds: ['--metrics-dir nowhere', 4, /nowhere is not a folder of metric files/],
  converge: ['-t nowhere.yml -s storage', 4, /no configuration file/],
  diff: ['reference.npy noisy.npy', 1, /noisy\.npy/],
  merge: ['nowhere', 4, /nowhere/],
  cache: ['status', 0, /products/],
  init: ['new --yes', 0, /next: /],
  micro: ['llama -o tiny', 0, /llama: \d+ layers?/],
  config: ['--show-origin', 0, /assay\.config\.json/],
  doctor: ['--json', 0, /"schema": "assay\/doctor@1"/],
  setup: ['python --list', 0, /no Python is set up here/],
  boards: ['', 5, /the configuration has no ssh targets/],
  completion: ['bash', 0, /complete /],
  __complete: ['te', 0, /^test\t/m],
}

describe('the built command line, as a process', () => {
  let folder = ''
  beforeAll(async () => {
    const config = JSON.stringify({ models: ['a.onnx'], target: ['ort:cpu,threads=2'] })
    folder = project({ 'a.onnx': affineModel(), 'assay.config.json': config })
    await writePlanted(folder)
    cpSync(join(root, 'examples/decoders/shakespeare'), join(folder, 'model'), { recursive: true })
  })

  test.each(commandLineTable().commands.map(({ name }) => name))('assay %s', async (name) => {
    const [words, code, says] = SMOKE[name]!
    // doctor would try a browser that it finds.
    const env = name === 'doctor' ? { PATH: temporaryFolder('no programs') } : {}
    const ran = await ended(startAssay([name, ...words.split(' ').filter(Boolean)], folder, env))
    expect(ran.stdout + ran.stderr).toMatch(says)
    expect(ran.code, ran.stderr).toBe(code)
  })
})
