import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { writeNpy } from '../../src/files/formats/npy.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { ownCode, ownCodeConfig } from '../conformance/hugging-face.ts'
import { assay, assayJson, type JsonReport, project, startAssay, temporaryFolder } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'
import { tensor } from '../support/small-models.ts'

const LONG_MS = 240_000
const MICRO = {
  model_type: 'llama',
  architectures: ['LlamaForCausalLM'],
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 128,
  max_position_embeddings: 64,
}
const THROWING = ownCode(`
def __init__(self, config):
    super().__init__(config)
    self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), Fragile())])
    self.post_init()

def forward(self, x: torch.FloatTensor):
    for block in self.blocks:
        x = block(x)
    return {"y": x}
`).replace(
  'class OwnModel',
  'class Fragile(nn.Module):\n    def forward(self, x):\n        raise RuntimeError("no kernel for this")\n\n\nclass OwnModel',
)

const folder = project({
  'models/micro/config.json': JSON.stringify(MICRO),
  'models/throwing/config.json': JSON.stringify(ownCodeConfig()),
  'models/throwing/modeling.py': THROWING,
  'theta/config.json': JSON.stringify({ ...MICRO, rope_theta: 500 }),
  'others/config.json': JSON.stringify({ name: 'a program of somebody else' }),
})
const env = { ASSAY_PYTHON: TEST_PYTHON }
describeWithPython('Hugging Face folders', 'torch, transformers', () => {
  let report: JsonReport
  const resultOf = (id: string) => report.results.find((result) => result.id === id)!
  beforeAll(async () => {
    await writeNpy(join(folder, 'x.npy'), memorySource('x', tensor('float32', [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])))
    const targets = [
      '--target',
      'half=torch:cpu,dtype=bf16,trust-code=true',
      '--target',
      'theta=torch:cpu,trust-code=true,model=theta/config.json',
    ]
    const args = ['test', 'models', '--reference', 'torch:cpu,trust-code=true', ...targets, '--input', 'x=x.npy']
    report = await assayJson(args, folder, env)
  }, LONG_MS)

  test('are found by their config.json, and a precision is judged by its own limits', () => {
    expect(report.results.map(({ id }) => id)).toEqual([
      'micro/full_model@half',
      'micro/full_model@theta',
      'throwing/full_model@half',
      'throwing/full_model@theta',
    ])
    const { verdict, outputs, measurements } = resultOf('micro/full_model@half')
    expect([verdict, outputs[0]?.name, outputs[0]?.rule]).toEqual([
      'pass',
      'logits',
      expect.stringContaining('bfloat16 whole model'),
    ])
    expect(measurements['reference.weights']).toBe('random, from seed 0')
    expect(measurements['input.input_ids']).toMatch(/vocab_size is 128/)
  })

  test('a wrong rotary base is a failure that names the module where it begins', () => {
    const { verdict, reason, measurements, artifacts } = resultOf('micro/full_model@theta')
    expect([verdict, measurements['modules.first']]).toEqual(['fail', 'model.rotary_emb#0'])
    expect(reason).toMatch(/; the first module over its limit is model\.rotary_emb#0 \(\d+ of \d+ are\)$/)
    const kept = artifacts.find(({ name }) => name === 'modules.json')!
    const modules = JSON.parse(readFileSync(join(folder, '.assay/runs', report.run.id, kept.path), 'utf8'))
    const verdictOf = (name: string) => modules.find((module: { name: string }) => module.name === name)?.verdict
    expect([verdictOf('model.embed_tokens'), verdictOf('model.layers.0.self_attn.q_proj')]).toEqual(['pass', 'pass'])
    expect(verdictOf('model.layers.0.self_attn.o_proj')).toBe('fail')
  })

  test('a module that throws is an error with its name', () => {
    const { verdict, error } = resultOf('throwing/full_model@half')
    expect([verdict, error?.stage]).toEqual(['error', 'run'])
    expect(error?.message).toMatch(/blocks\.1\.1.*Fragile.*no kernel for this/)
  })

  test('without a target, half precision is judged against full; a run of the configuration alone says so', async () => {
    const ran = await assay(['list', 'models/micro/config.json'], folder, env)
    expect([ran.code, ran.stdout.trim()]).toEqual([0, 'micro/full_model@torch:cpu,dtype=bf16'])
  })

  test('a host that is killed leaves nothing of its worker behind', { timeout: LONG_MS }, async () => {
    const temporary = temporaryFolder('t')
    const child = startAssay(['test', 'models/micro', '--recompute'], folder, { ...env, TMPDIR: temporary })
    await until(() => readdirSync(temporary).length > 0, 'its worker has a folder')
    child.kill('SIGKILL')
    await until(() => readdirSync(temporary).length === 0, 'the folder is removed')
  })

  test('a target that takes ONNX models says so', { timeout: LONG_MS }, async () => {
    const {
      results: [result],
    } = await assayJson(['test', 'models/micro', '--target', 'ort:cpu'], folder, env)
    expect([result?.verdict, result?.error?.stage]).toEqual(['error', 'compile'])
    expect(result?.error?.message).toBe('ort:cpu: it takes onnx models, this is huggingface')
  })
})
