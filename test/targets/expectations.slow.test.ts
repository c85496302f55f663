import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { assay, assayJson, project } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

const SMALL = { vocab_size: 80, max_position_embeddings: 96, num_hidden_layers: 4, pad_token_id: 1 }
const ANSWERS = {
  ...SMALL,
  architectures: ['RobertaForQuestionAnswering'],
  model_type: 'roberta',
  hidden_size: 16,
  num_attention_heads: 2,
  intermediate_size: 32,
  type_vocab_size: 1,
}

describeWithPython('snapshots of PyTorch models', 'torch, transformers', () => {
  let folder: string
  const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
  const expectWith = (...words: string[]) => assayJson(['expect', ...words], folder, env)
  const verdictsOf = async (...words: string[]) => {
    const { results, stderr } = await expectWith(...words)
    return Object.fromEntries(
      results.map(({ scope, verdict, reason, error }) => [scope, [verdict, reason ?? error?.message ?? stderr]]),
    )
  }

  beforeAll(async () => {
    folder = project({ 'answers/config.json': JSON.stringify(ANSWERS) })
    for (const [family, name] of [
      ['llama', 'tiny'],
      ['gpt2', 'fused'],
    ] as const) {
      const made = await assay(['micro', family, '--hidden', '32', '--layers', '2', '-o', name], folder)
      expect(made.code, made.stderr).toBe(0)
    }
  })

  test('hold a decoder, with and without weights', async () => {
    for (const model of ['tiny', 'tiny/config.json']) {
      const captured = await verdictsOf(model, '--capture')
      expect([captured.output![0], captured.weight_keys![0], captured.unfused![0]]).toEqual([
        'captured',
        'captured',
        'skip',
      ])
      const judged = await verdictsOf(model)
      expect([judged.output![0], judged.weight_keys![0]], JSON.stringify(judged)).toEqual(['pass', 'pass'])
    }
    const names = readdirSync(join(folder, 'expectations'))
    const bare = JSON.parse(
      readFileSync(join(folder, 'expectations', names.find((name) => name.startsWith('tiny-config'))!), 'utf8'),
    )
    expect(bare.output.runtime.weights).toBe('random, from seed 42')
    expect(bare.weight_keys.source).toBe('the target')
    expect(JSON.stringify(bare)).not.toContain(folder)
  })

  test('tell whose weights changed', async () => {
    await expectWith('tiny', '--capture', '--target', 'x=torch:cpu')
    cpSync(join(folder, 'tiny'), join(folder, 'spoilt'), { recursive: true })
    negate(join(folder, 'spoilt/model.safetensors'), 'lm_head.weight')
    const { output, weight_keys } = await verdictsOf('tiny', '--target', 'x=torch:cpu,model=spoilt')
    expect(output).toEqual(['fail', expect.stringMatching(/^logits: all values changed sign; the top-1 id changed at/)])
    expect(weight_keys).toEqual(['fail', 'weight lm_head.weight has other content'])
  })

  test('pass if only the kernel of attention is another, which gives other numbers for padding', async () => {
    await expectWith('tiny', '-k', 'output', '--capture', '--target', 'w=torch:cpu')
    const { results } = await expectWith('tiny', '-k', 'output', '--target', 'w=torch:cpu,attention=sdpa')
    expect(results[0]!.verdict, results[0]!.reason).toBe('pass')
  })

  test('are judged by limits of the precision, and say if that is another one now', async () => {
    await expectWith('tiny', '-k', 'output', '--capture', '--target', 'y=torch:cpu')
    const { results } = await expectWith('tiny', '-k', 'output', '--target', 'y=torch:cpu,dtype=bf16')
    expect([results[0]!.verdict, results[0]!.flags]).toEqual(['fail', ['tolerance-changed']])
    expect(results[0]!.reason).toMatch(
      /its element type is bfloat16, was float32; judged by the limits of the snapshot/,
    )
  })

  test('hold a model that answers questions, element by element', async () => {
    writeFileSync(
      join(folder, 'assay.config.json'),
      JSON.stringify({ expectations: { tuple_output_models: ['answers'], expectationsDir: 'kept' } }),
    )
    try {
      expect((await verdictsOf('--capture')).output![0]).toBe('captured')
      const [name] = readdirSync(join(folder, 'kept'))
      const { output } = JSON.parse(readFileSync(join(folder, 'kept', name!), 'utf8'))
      expect(output.outputs.map(({ name, shape }: { name: string; shape: number[] }) => [name, shape])).toEqual([
        ['start_logits', [1, 64]],
        ['end_logits', [1, 64]],
      ])
      expect(output.signature.values).toHaveLength(128)
      const { results } = await assayJson(['run'], folder, env)
      expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
        ['answers/output@torch:cpu', 'pass'],
        ['answers/unfused@torch:cpu', 'skip'],
        ['answers/weight_keys@torch:cpu', 'pass'],
      ])
    } finally {
      rmSync(join(folder, 'assay.config.json'))
    }
  })

  test('are kept with fused projections computed one by one', async () => {
    await expectWith('fused', '--capture')
    const { unfused } = await verdictsOf('fused')
    expect(unfused![0], unfused![1]).toBe('pass')
    const { output } = await verdictsOf('tiny', '--target', 'torch:cpu,unfuse=true', '--capture')
    expect(output![1]).toMatch(
      /^.*unfuse=true: no projections of LlamaForCausalLM lie in one weight; known are c_attn, /,
    )
    await expectWith('fused', '--capture', '--target', 'z=torch:cpu')
    cpSync(join(folder, 'fused'), join(folder, 'broken'), { recursive: true })
    negate(join(folder, 'broken/model.safetensors'), 'transformer.h.1.attn.c_attn.weight')
    const broken = await verdictsOf('fused', '--target', 'z=torch:cpu,model=broken')
    expect(broken.unfused).toEqual(['fail', expect.stringMatching(/^logits: /)])
  })

  test('of a model with three layers stand for the large one', async () => {
    const { results, stderr } = await expectWith('answers', '--micro', '--capture', '-k', 'output')
    expect(results[0], stderr).toMatchObject({ id: 'answers[micro]/output@torch:cpu', verdict: 'captured' })
    expect(stderr).toContain('micro: 3 layers with random weights are used instead of answers')
    mkdirSync(join(folder, 'odd'))
    writeFileSync(join(folder, 'odd/config.json'), JSON.stringify({ model_type: 'llama', depth: 4 }))
    const { code, stderr: why } = await assay(['expect', 'odd', '--micro'], folder, env)
    expect([code, why]).toEqual([
      4,
      expect.stringContaining('no micro model of odd can be made: its config.json has none of'),
    ])
  })
})

/** Flips the sign of every number of a float32 weight. */
function negate(path: string, name: string): void {
  const file = readFileSync(path)
  const headerBytes = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.subarray(8, 8 + headerBytes).toString('utf8'))
  const [start, end] = header[name].data_offsets as [number, number]
  for (let at = 8 + headerBytes + start; at < 8 + headerBytes + end; at += 4)
    file.writeFloatLE(-file.readFloatLE(at), at)
  writeFileSync(path, file)
}
