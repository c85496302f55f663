import { expect, test } from 'vitest'
import { assay, project } from '../support/assay.ts'

const FOLDER = { 'models/tiny/config.json': JSON.stringify({ model_type: 'llama' }) }
const MODE = ['--mode', 'model-forward']

test.each([
  [['layers', 'models/tiny'], 'give --mode: generate or model-forward'],
  [['layers', 'models/tiny', '--mode', 'forward'], 'unknown --mode "forward"; known: generate, model-forward'],
  [['layers', 'models/tiny', '--mode', 'generate', '--do-sample'], 'two sampled texts cannot be compared'],
  [['layers', ...MODE], 'give the folder of a Hugging Face model'],
  [['layers', 'modles/tiny', ...MODE], 'models/tiny'],
  [
    ['layers', 'models/tiny', ...MODE, '--reference', 'torch:cpu', '--reference', 'torch:cpu,threads=2'],
    'give one --reference',
  ],
])('%j is refused with what to do', async (args, text) => {
  const { code, stderr } = await assay(args, project(FOLDER))
  expect([code, stderr]).toEqual([4, expect.stringContaining(text)])
})

test('cases are listed by model and target', async () => {
  const args = ['layers', 'models', ...MODE, '--target', 'torch:cpu,dtype=bf16', '--list']
  const { code, stdout } = await assay(args, project(FOLDER))
  expect([code, stdout]).toEqual([0, 'tiny/model-forward@torch:cpu,dtype=bf16\n'])
})

test('a folder without a model says so', async () => {
  const { code, stderr } = await assay(['layers', 'empty', ...MODE], project({ 'empty/notes.txt': '' }))
  expect([code, stderr]).toEqual([5, expect.stringContaining('no Hugging Face folder in empty')])
})
