import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLayersFile } from '../../src/suites/layers/layers-file.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'
import { spoilWeight, weightNames } from '../support/spoil-weight.ts'

const WEIGHTS = 'model.safetensors'
const FACTOR = 1.3
/** Each takes seconds; ASSAY_TEST_DRAWS=20 takes as many. */
const DRAWS = Number(process.env.ASSAY_TEST_DRAWS ?? 8)

/** The same draw every time. */
function drawn(names: readonly string[], count: number): string[] {
  let state = 7
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return state / 2 ** 32
  }
  const left = [...names]
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(Math.floor(next() * left.length), 1)[0]!,
  )
}

describeWithPython('a weight that is wrong in one layer of a decoder', 'torch, transformers', () => {
  const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }

  test.each([
    ['micro llama', DRAWS],
    ['shakespeare', Math.ceil(DRAWS / 3)],
  ])('of %s is made there, in each of %i draws', async (which, draws) => {
    const folder = project()
    const model = join(folder, 'model')
    if (which === 'shakespeare') cpSync(join(root, 'examples/decoders/shakespeare'), model, { recursive: true })
    else expect((await assay(['micro', 'llama', '-o', 'model'], folder)).code).toBe(0)
    const names = weightNames(join(model, WEIGHTS))
    const isTied = !names.includes('lm_head.weight')
    const weights = drawn(names, draws)
    const targets = weights.map((weight, i) => {
      cpSync(model, join(folder, `fault${i}`), { recursive: true })
      spoilWeight(join(folder, `fault${i}`, WEIGHTS), weight, FACTOR)
      return `fault${i}=torch:cpu,dtype=bf16,model=fault${i}`
    })
    const run = async (...more: readonly string[]) => {
      const shape = ['--batch-size', '2', '--prompt-length', '48']
      const words = ['layers', 'model', '--mode', 'model-forward', ...shape, '--reference', 'torch:cpu']
      return assayJson([...words, ...more], folder, env)
    }
    await run('--target', 'torch:cpu,dtype=bf16', '--seed', '1')
    const learning = await assay(['thresholds', '--layer-io', '--output', '.'], folder)
    expect(learning.code, learning.stderr).toBe(0)
    const limits = ['--thresholds', 'model-layer-thresholds.json']
    const healthy = await run('--target', 'torch:cpu,dtype=bf16', '--seed', '2', ...limits)
    expect(healthy.results[0], healthy.stderr).toMatchObject({ verdict: 'pass' })
    const faulty = await run(...targets.flatMap((target) => ['--target', target]), ...limits)
    for (const [i, weight] of weights.entries()) {
      const { verdict, artifacts } = faulty.results.find(({ target }) => target === `fault${i}`)!
      const { path } = artifacts.find(({ name }) => name === 'layers.json')!
      const { layers } = await readLayersFile(join(folder, '.assay/runs', faulty.run.id, path))
      const named = layers.filter(({ judged }) => judged?.origin === 'made there').map(({ name }) => name.split('#')[0])
      // The head has the same weight as the embedding.
      const layer = weight.replace(/\.weight$/, '')
      const expected = layer === 'model.embed_tokens' && isTied ? [layer, 'lm_head'] : [layer]
      expect([layer, verdict, [...new Set(named)]]).toEqual([layer, 'fail', expected])
    }
  })
})
