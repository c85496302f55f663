import { describe, expect, test } from 'vitest'
import { assay, project } from '../support/assay.ts'
import { promptedFolder } from '../support/language-folder.ts'

const FOLDER = { 'models/tiny/config.json': JSON.stringify({ model_type: 'llama' }) }
const MODE = ['--mode', 'model-forward']
const GENERATE = ['--mode', 'generate']

test.each([
  [['layers', 'models/tiny'], 'give --mode: generate or model-forward'],
  [['layers', 'models/tiny', '--mode', 'generated'], 'unknown --mode "generated"; did you mean "generate"?'],
  [['layers', 'models/tiny', ...GENERATE, '--do-sample'], 'two sampled texts cannot be compared'],
  [['layers', 'models/tiny', ...GENERATE, '--dim', 'sequence=3'], '--mode generate begins with prompts; --dim'],
  [['layers', 'models/tiny', ...GENERATE, '--batch-size', '0'], '--batch-size takes whole numbers from 1 up'],
  [['layers', ...MODE], 'give an ONNX model or the folder of a Hugging Face model'],
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

describe('a decoder', () => {
  const LIST = ['--target', 'bf16=torch:cpu,dtype=bf16', '--list']
  const listed = async (args: readonly string[], env = {}) => {
    const { code, stdout, stderr } = await assay([...args, ...LIST], project(promptedFolder('models/tiny')), env)
    expect(code, stderr).toBe(0)
    return { ids: stdout.trim().split('\n'), said: stderr.trim().split('\n').filter(Boolean) }
  }

  test('has a case for each shape of its prompts', async () => {
    const shapes = ['--batch-size', '1,2', '--prompt-length', '8', '--max-new-tokens', '3,5']
    const { ids } = await listed(['layers', 'models', ...GENERATE, ...shapes])
    expect(ids.sort()).toEqual(['b1/s8/n3', 'b1/s8/n5', 'b2/s8/n3', 'b2/s8/n5'].map((scope) => `tiny/${scope}@bf16`))
    expect((await listed(['layers', 'models', ...MODE])).ids).toEqual(['tiny/b4/s64/n0@bf16'])
    expect((await listed(['layers', 'models', ...MODE, '--dim', 'length=3'])).ids).toEqual(['tiny/model-forward@bf16'])
  })

  const VARIABLES = { MODEL_PATHS: 'models/tiny', BATCH_SIZES: '1,2', SEQ_LENGTHS: '8', MAX_NEW_TOKENS: '3' }

  test('is named and shaped by documented variables, which are told', async () => {
    const { ids, said } = await listed(['layers', ...GENERATE], VARIABLES)
    expect(ids.sort()).toEqual(['tiny/b1/s8/n3@bf16', 'tiny/b2/s8/n3@bf16'])
    expect(said).toEqual([
      '--batch-size 1,2 is from BATCH_SIZES in the environment',
      '--prompt-length 8 is from SEQ_LENGTHS in the environment',
      '--max-new-tokens 3 is from MAX_NEW_TOKENS in the environment',
      '--model-path models/tiny is from MODEL_PATHS in the environment',
    ])
  })

  test('is as the command line has it, whatever variables say', async () => {
    const shapes = ['--batch-size', '3', '--prompt-length', '6', '--max-new-tokens', '2']
    const env = { ...VARIABLES, MODEL_PATHS: 'nowhere' }
    const { ids, said } = await listed(['layers', 'models/tiny', ...GENERATE, ...shapes], env)
    expect([ids, said]).toEqual([['tiny/b3/s6/n2@bf16'], []])
  })

  test('may be measured as the section of a configuration says', async () => {
    const config = { layers: { mode: 'generate', batchSize: 2, promptLength: 8, maxNewTokens: '3' } }
    const files = { ...promptedFolder('models/tiny'), 'assay.config.json': JSON.stringify(config) }
    const { stdout, stderr } = await assay(['layers', 'models', ...LIST], project(files))
    expect(stdout, stderr).toBe('tiny/b2/s8/n3@bf16\n')
  })
})
