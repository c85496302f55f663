import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type LayerRow, readLayersFile } from '../../src/suites/layers/layers-file.ts'
import { writeLayerThresholds } from '../../src/suites/layers/thresholds/layer-thresholds.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'
import { spoilWeight } from '../support/spoil-weight.ts'

interface Layer {
  readonly name: string
  readonly step: number
  readonly count: number
  readonly shape: readonly number[]
  readonly reference: string
  readonly target: string
  readonly metrics: { readonly rel_l2: number; readonly row_cosine: number }
}

const FAULTY = 'model.layers.1.self_attn.o_proj'

describeWithPython('every layer of a PyTorch model', 'torch, transformers', () => {
  let folder: string
  const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }

  beforeAll(async () => {
    folder = project()
    expect((await assay(['micro', 'llama', '-o', 'tiny'], folder)).code).toBe(0)
    cpSync(join(folder, 'tiny'), join(folder, 'faulty'), { recursive: true })
    spoilWeight(join(folder, 'faulty/model.safetensors'), `${FAULTY}.weight`)
  })

  async function layersOn(target: string, mode = 'model-forward', more: readonly string[] = []) {
    const shapes = ['--batch-size', '2', '--prompt-length', '48']
    const args = ['layers', 'tiny', '--mode', mode, '--reference', 'torch:cpu', '--target', target, ...shapes, ...more]
    const { results, run, stderr } = await assayJson(args, folder, env)
    const [result] = results
    expect(result, stderr).toMatchObject({ verdict: 'captured' })
    const { path } = result!.artifacts.find(({ name }) => name === 'layers.json')!
    const { layers } = JSON.parse(readFileSync(join(folder, '.assay/runs', run.id, path), 'utf8'))
    return { layers: layers as Layer[], result: result! }
  }

  test('is measured in another precision, in the order in which it is computed', async () => {
    const { layers, result } = await layersOn('torch:cpu,dtype=bf16')
    expect([result.id, result.coverage]).toEqual([
      'tiny/b2/s48/n0@torch:cpu,dtype=bf16',
      { compared: 49, expected: 49 },
    ])
    const names = layers.map(({ name }) => name)
    expect(names[0]).toBe('model.embed_tokens')
    expect(names.indexOf('model.layers.0.mlp')).toBeLessThan(names.indexOf('model.layers.1.self_attn.q_proj'))
    expect(names.slice(-4)).toEqual(['model.norm', 'model#last_hidden_state', 'lm_head', 'logits'])
    const norm = layers.find(({ name }) => name === 'model.norm')!
    expect(norm).toMatchObject({ reference: 'float32', target: 'bfloat16', shape: [2, 48, 64] })
    // Padding is left out.
    expect(norm.count).toBeLessThan(2 * 48 * 64)
    expect(norm.count % 64).toBe(0)
    expect(norm.metrics.rel_l2).toBeGreaterThan(1e-4)
    expect(norm.metrics.rel_l2).toBeLessThan(0.1)
    expect(norm.metrics.row_cosine).toBeGreaterThan(0.99)
  })

  test('is measured at its inputs too', async () => {
    const args = ['layers', 'tiny', '--mode', 'model-forward', '--dim', 'sequence=8', '--observe', 'inputs']
    const { results, run, stderr } = await assayJson([...args, '--target', 'torch:cpu,dtype=bf16'], folder, env)
    const file = results[0]!.artifacts.find(({ name }) => name === 'layers.json')
    expect(file, stderr).toBeDefined()
    const { layers } = await readLayersFile(join(folder, '.assay/runs', run.id, file!.path))
    const names = layers.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['model.norm:in#0', 'model.layers.1.self_attn:in#hidden_states']))
    expect(names.filter((name) => !name.includes(':in#'))).toEqual(['logits'])
  })

  test('shows the first one that a wrong weight changes', async () => {
    const { layers } = await layersOn('torch:cpu,model=faulty')
    const off = layers.filter(({ metrics }) => metrics.rel_l2 !== 0).map(({ name }) => name)
    expect(off[0]).toBe(FAULTY)
    expect(off).toContain('logits')
    expect(off).not.toContain('model.layers.1.self_attn.q_proj')
  })

  test('is measured at every step of one text, in which the wrong weight is seen first in its layer', async () => {
    const { layers, result } = await layersOn('torch:cpu,model=faulty', 'generate', ['--max-new-tokens', '4'])
    expect(result.id).toBe('tiny/b2/s48/n4@torch:cpu,model=faulty')
    expect(result.measurements).toMatchObject({
      'reference.e2e_ms': expect.any(Number),
      'target.e2e_ms': expect.any(Number),
    })
    const names = layers.filter(({ step }) => step === 0).map(({ name }) => name)
    for (const step of [0, 1, 2, 3]) {
      const taken = layers.filter((layer) => layer.step === step)
      expect(taken.map(({ name }) => name)).toEqual(names)
      const off = taken.filter(({ metrics }) => metrics.rel_l2 !== 0).map(({ name }) => name)
      expect(off[0]).toBe(FAULTY)
      expect(off).toContain('lm_head')
      const embedded = taken.find(({ name }) => name === 'model.embed_tokens')!
      expect(embedded.shape).toEqual([2, step === 0 ? 48 : 1, 64])
      expect(embedded.metrics.rel_l2).toBe(0)
    }
  })
})

describeWithPython('layers of a PyTorch model that are judged', 'torch, transformers', () => {
  let folder: string
  const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }

  beforeAll(async () => {
    folder = project()
    expect((await assay(['micro', 'llama', '-o', 'tiny'], folder)).code).toBe(0)
    cpSync(join(folder, 'tiny'), join(folder, 'faulty'), { recursive: true })
    spoilWeight(join(folder, 'faulty/model.safetensors'), `${FAULTY}.weight`)
  })

  async function judge(target: string, ...more: readonly string[]) {
    const args = ['layers', 'tiny', '--mode', 'model-forward', '--reference', 'torch:cpu', '--target', target, ...more]
    const { results, run, stderr } = await assayJson(args, folder, env)
    const [result] = results
    const file = result!.artifacts.find(({ name }) => name === 'layers.json')
    expect(file, stderr).toBeDefined()
    const path = join(folder, '.assay/runs', run.id, file!.path)
    return { result: result!, path, ...(await readLayersFile(path)) }
  }

  test('pass by limits learnt from another run of the baseline, on other inputs', async () => {
    const learnt = await judge('torch:cpu,dtype=bf16', '--seed', '1')
    const limits = limitsOf(learnt.layers)
    const { model, mode, reference, target: baseline } = learnt
    const head = { model, mode, reference, baseline, created: '2026-01-01T00:00:00Z', environment: {} }
    await writeLayerThresholds(join(folder, 'limits.json'), { ...head, layers: limits })
    const { result } = await judge('torch:cpu,dtype=bf16', '--thresholds', 'limits.json', '--seed', '2')
    expect(result).toMatchObject({ verdict: 'pass', coverage: { compared: 49, expected: 49 } })
  })

  test('show the one where an error is made, and that it came into the others', async () => {
    const { result, layers } = await judge('torch:cpu,dtype=bf16,model=faulty', '--baseline', 'torch:cpu,dtype=bf16')
    expect(result.reason).toMatch(new RegExp(`^\\d+ of 49 layers are over their limit, the first is ${FAULTY}; `))
    expect(result.reason).toMatch(new RegExp(`; made there: ${FAULTY}$`))
    const origins = new Map(layers.flatMap(({ name, judged }) => (judged?.origin ? [[name, judged.origin]] : [])))
    expect([...origins].filter(([, origin]) => origin === 'made there')).toEqual([[FAULTY, 'made there']])
    for (const name of ['model.layers.1.self_attn#0', 'model.layers.1', 'model#last_hidden_state']) {
      expect([name, origins.get(name)]).toEqual([name, `contains ${FAULTY}`])
    }
    for (const name of ['model.layers.2', 'model.norm', 'lm_head', 'logits']) {
      expect([name, origins.get(name)]).toEqual([name, 'came in'])
    }
  })

  test('show it at every step of a text', async () => {
    const generate = ['--mode', 'generate', '--max-new-tokens', '3', '--baseline', 'torch:cpu,dtype=bf16']
    const { result, layers } = await judge('torch:cpu,dtype=bf16,model=faulty', ...generate)
    expect(result.reason).toMatch(new RegExp(`^\\d+ of 144 layers are over their limit, the first is ${FAULTY}; `))
    const made = layers.filter(({ judged }) => judged?.origin === 'made there')
    expect(made.map(({ name, step }) => [name, step])).toEqual([0, 1, 2].map((step) => [FAULTY, step]))
    const heads = layers.filter(({ name }) => name === 'lm_head')
    expect(heads.map(({ judged }) => judged?.origin)).toEqual(['came in', 'came in', 'came in'])
  })
})

const TINY = 'torch:cpu,dtype=bf16,compile=tiny,import=tiny_backend.py'

describeWithPython('layers of a program that torch.compile made', 'torch, transformers', () => {
  const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
  let folder: string

  beforeAll(async () => {
    folder = project()
    cpSync(join(root, 'examples/torch-backend/tiny_backend.py'), join(folder, 'tiny_backend.py'))
    expect((await assay(['micro', 'llama', '-o', 'tiny'], folder)).code).toBe(0)
  })

  async function judge(target: string) {
    const sides = ['--reference', 'torch:cpu', '--target', target, '--baseline', 'torch:cpu,dtype=bf16']
    // The backend computes rotary angles in bfloat16 too, which has too few digits for late positions.
    const args = ['layers', 'tiny', '--mode', 'model-forward', '--prompt-length', '16', ...sides]
    const { results, stderr } = await assayJson(args, folder, env)
    expect(results, stderr).toHaveLength(1)
    return results[0]!
  }

  test('are within the limits of bfloat16 in the example backend', async () => {
    expect(await judge(TINY)).toMatchObject({
      verdict: 'pass',
      reason: 'all 49 layers are within their limits',
      coverage: { compared: 49, expected: 49 },
      flags: [],
    })
  })

  test('are over them with its planted fault, beginning with the first matrix product', async () => {
    const { verdict, reason, table } = await judge(`${TINY},compile-option=fault=drop-column`)
    expect(verdict).toBe('fail')
    expect(reason).toContain(
      'the first is model.layers.0.self_attn.q_proj; made there: model.layers.0.self_attn.q_proj',
    )
    expect(table!.rows[0]).toEqual(expect.arrayContaining(['model.layers.0.self_attn.q_proj', 'made there']))
  })
})

/** As a file of thresholds has them, from one run. */
function limitsOf(layers: readonly LayerRow[]) {
  const directions = { rel_l2: 'lower', row_cosine: 'higher', cosine: 'higher' } as const
  return layers.map(({ name, shape, metrics }) => {
    const found = Object.entries(directions).flatMap(([metric, direction]) => {
      const value = metrics[metric]
      const statistic = direction === 'lower' ? ('p99' as const) : ('p1' as const)
      return value == null ? [] : [[metric, { direction, value, statistic, count: 1 }] as const]
    })
    return { name, shape, metrics: Object.fromEntries(found) }
  })
}
