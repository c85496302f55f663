import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, project, root } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

const MODEL = 'models/shakespeare'
const NAME = 'models--shakespeare_max-new-tokens-8_batch-size-1_seq-length-32_dtype-fp16'

/** As the document writes it, with sizes for a small model. */
const GENERATE_METRICS = [
  '--architecture=hf_pretrained',
  `--model_path=${MODEL}/`,
  `--tokenizer=${MODEL}/`,
  '--unfuse_weights',
  '--output_dir=output/',
  '--compile_dynamic',
  '--max_new_tokens=8',
  '--min_pad_length=32',
  '--batch_size=1',
  '--default_dtype=fp16',
  '--sharegpt_path=share_gpt.json',
  '--num_test_tokens_per_sequence=16',
]
const REMAINING = [
  '--variant',
  MODEL,
  '--model_source=hf',
  '--topk_per_token=10',
  '--distributed',
  '--skip_computation',
]
const KWARGS = ['--extra_get_model_kwargs', 'nlayers=2', 'hidden=8']

function documentedProject(): string {
  const turns = (text: string) => ({
    conversations: [
      { from: 'human', value: text },
      { from: 'gpt', value: 'Ay.' },
    ],
  })
  const texts = [
    'What news, my lord, of the king and of the queen, and of the noble duke of York?',
    'Speak, good sir, for I would hear of the battle and of all the men that fell there.',
  ]
  const folder = project({ 'share_gpt.json': JSON.stringify(texts.map(turns)) })
  cpSync(join(root, 'examples/decoders/shakespeare'), join(folder, MODEL), { recursive: true })
  return folder
}

test('all options of generate_metrics are known; those without a meaning here say so', async () => {
  const words = ['decoders', 'baseline', '--list', ...KWARGS, ...GENERATE_METRICS, ...REMAINING]
  const { code, stdout, stderr } = await assay(words, documentedProject())
  expect([code, stdout]).toEqual([0, 'shakespeare/b1/s32/n8@torch:cpu,dtype=fp16\n'])
  expect(stderr.split('\n').filter((line) => line.includes('does nothing here'))).toEqual([
    'assay: --extra_get_model_kwargs does nothing here: the folder defines the model; assay micro writes one with other sizes',
    'assay: --architecture does nothing here: the folder itself says what the model is',
    'assay: --unfuse_weights does nothing here: weights are used as they are',
    'assay: --compile_dynamic does nothing here: the target decides how it compiles',
    'assay: --model_source does nothing here: the folder itself says what the model is',
    'assay: --distributed does nothing here: targets run in one process here',
  ])
  expect(stderr).toContain('assay: --min_pad_length is written --prompt-length here\n')
})

describeWithPython('generate_metrics as the document writes it', 'torch, transformers, safetensors', () => {
  test('writes the documented files, which get_thresholds reads', async () => {
    const folder = documentedProject()
    const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
    const { code, stderr, stdout } = await assay(['decoders', 'baseline', ...GENERATE_METRICS], folder, env)
    expect(code, `${stderr}${stdout}`).toBe(0)
    const metrics = ['ce', 'diff_mean', 'prob_mean', 'prob_std']
    expect(readdirSync(join(folder, 'output')).sort()).toEqual(
      [...metrics.map((metric) => `${NAME}.${metric}.csv`), `${NAME}.sequences.json`].sort(),
    )
    const [header, ...values] = readFileSync(join(folder, 'output', `${NAME}.ce.csv`), 'utf8')
      .trimEnd()
      .split('\n')
    expect([header, values.length]).toEqual(['ce', 16])
    const asked = ['thresholds', '--models', MODEL, '--metrics', 'diff_mean', 'ce', '--file_base', 'output']
    const learnt = await assay(asked, folder)
    expect(learnt.stdout).toMatch(
      /^found 1 metric files\nmodels--shakespeare diff_mean [\d.e-]+\nfound 1 metric files\nmodels--shakespeare ce [\d.]+\n/,
    )
  })
})
