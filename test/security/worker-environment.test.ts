import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { identity } from '../conformance/models.ts'
import { assay, project, root } from '../support/assay.ts'

const SECRETS = {
  HF_TOKEN: 'hunter2',
  NPM_TOKEN: 'hunter2',
  GH_TOKEN: 'hunter2',
  AWS_SECRET_ACCESS_KEY: 'hunter2',
  NVIDIA_API_KEY: 'hunter2',
  DATABASE_URL: 'postgres://me:hunter2@db.test/x',
}

const READ = {
  ORT_LOGGING: '1',
  KMP_AFFINITY: 'none',
  NVIDIA_VISIBLE_DEVICES: '0',
  PYTHONHASHSEED: '1',
  TORCH_LOGS: 'x',
  DISPLAY: ':7',
  SSH_AUTH_SOCK: '/nowhere',
}

/** A program, or a package of Node, that writes down what it was given. */
const telling = (file: string) =>
  `require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env))`

function tellingProject(): { folder: string; told: () => Record<string, string> } {
  const folder = project({ 'model.onnx': identity('float32') })
  const file = join(folder, 'told.json')
  for (const name of ['told', 'bin/ssh']) {
    mkdirSync(join(folder, 'bin'), { recursive: true })
    writeFileSync(join(folder, name), `#!${process.execPath}\n${telling(file)}\nprocess.exit(1)\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return { folder, told: () => JSON.parse(readFileSync(file, 'utf8')) }
}

/** In the place of the package that a run would take. */
function plantPackage(folder: string, name: string): void {
  rmSync(join(folder, 'node_modules'))
  mkdirSync(join(folder, 'node_modules', name), { recursive: true })
  const real = name === 'onnxruntime-web' ? 'onnxruntime-node' : 'onnxruntime-web'
  symlinkSync(join(root, 'node_modules', real), join(folder, 'node_modules', real))
  const exports = { '.': { import: './index.js', require: './index.js' } }
  const manifest = { name, version: '1.30.0', main: 'index.js', exports }
  writeFileSync(join(folder, 'node_modules', name, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'node_modules', name, 'index.js'), telling(join(folder, 'told.json')))
}

test.each([
  ['ort:cpu,threads=2', 'onnxruntime-node', ['ORT_LOGGING', 'KMP_AFFINITY', 'NVIDIA_VISIBLE_DEVICES']],
  ['ort-web:wasm', 'onnxruntime-web', ['ORT_LOGGING']],
  ['onnxruntime:cpu', null, ['ORT_LOGGING', 'KMP_AFFINITY', 'PYTHONHASHSEED']],
  ['torch:cpu', null, ['TORCH_LOGS', 'PYTHONHASHSEED']],
  ['chromium:wasm,browser=./told', null, ['DISPLAY', 'NVIDIA_VISIBLE_DEVICES']],
  ['ssh:127.0.0.1,program=x,wait=0', null, ['SSH_AUTH_SOCK']],
])('what reads a model on %s gets what it needs of the environment, and no secret', async (target, planted, needed) => {
  const { folder, told } = tellingProject()
  if (planted) plantPackage(folder, planted)
  const env = { ...SECRETS, ...READ, PATH: `${folder}/bin:${process.env.PATH}`, ASSAY_PYTHON: './told' }
  const isFolder = target.startsWith('torch')
  if (isFolder) writeFileSync(join(folder, 'config.json'), '{"model_type":"llama"}')
  const asked = [isFolder ? '.' : 'model.onnx', '--target', target]
  await assay(['test', ...asked], folder, env)
  const names = Object.keys(told())
  expect(names).toEqual(expect.arrayContaining(['PATH', ...needed]))
  expect(names.filter((name) => name in SECRETS)).toEqual([])
  // Of an ssh target they are for the board, and of the worker's own process still.
  await assay(['test', ...asked.slice(0, -1), `${target},env=HF_TOKEN`], folder, env)
  expect(told()).toMatchObject({ HF_TOKEN: 'hunter2' })
})
