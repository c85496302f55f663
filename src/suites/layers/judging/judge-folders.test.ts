import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { languageFolder } from '../../../../test/support/language-folder.ts'
import { folderRuntime } from '../../../runtimes/testing/folder-runtime.ts'
import { inProcess, testTarget } from '../../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, measureFolders, onlyResult } from '../../testing/judge.ts'
import { readLayersFile } from '../layers-file.ts'

/** Noise of the baseline, another one of the target, and perhaps a fault. */
const noisy = (size: number): NonNullable<Fault['output']> => {
  return (_name, given) => withNumbers(given, (value, place) => value * (1 + size * Math.sin(7 * place + 1)))
}

async function judged(output: NonNullable<Fault['output']>, more: Partial<Fault> = {}) {
  const folder = folderWith(languageFolder('micro'))
  const kinds = [
    inProcess('folders', folderRuntime),
    plantedKind('trusted', { output: noisy(1e-3) }, folderRuntime),
    plantedKind('tested', { output, ...more }, folderRuntime),
  ]
  const outcome = await measureFolders(folder, {
    reference: 'folders:cpu',
    targets: ['tested:cpu'],
    shapes: [{ match: '**', dims: { length: [3] } }],
    kinds,
    judgedBy: { baseline: testTarget('trusted:cpu'), margin: 2 },
  })
  const result = onlyResult(outcome)
  const file = result.artifacts.find(({ name }) => name === 'layers.json')!
  return { result, layers: (await readLayersFile(join(outcome.folder, file.path))).layers }
}

describe('a target beside a baseline', () => {
  test('passes with noise as large as the baseline’s', async () => {
    const { result, layers } = await judged(noisy(1.5e-3))
    expect(result).toMatchObject({
      verdict: 'pass',
      reason: 'all 6 layers are within their limits',
      coverage: { compared: 6, expected: 6 },
    })
    expect(result.metrics.find(({ name }) => name === 'rel_l2')).toMatchObject({
      value: expect.any(Number),
      threshold: expect.any(Number),
      provenance: expect.stringMatching(/^2 times trusted:cpu, at /),
    })
    expect(result.table?.head).toEqual(['nearest to their limit', 'metric', 'value', 'limit', 'ratio', ''])
    expect(new Set(layers.map(({ judged }) => judged?.standing))).toEqual(new Set(['within']))
  })

  test('fails where one layer is further off, and names it', async () => {
    const { result, layers } = await judged((name, given, session) =>
      name === 'heard' ? withNumbers(given, (value) => 1.5 * value) : noisy(1e-3)(name, given, session),
    )
    expect(result.verdict).toBe('fail')
    expect(result.reason).toContain('1 of 6 layers are over their limit, the first is heard')
    expect(result.table?.rows.map(([name]) => name)).toEqual(['heard'])
    expect(layers.filter(({ judged }) => judged?.standing === 'over').map(({ name }) => name)).toEqual(['heard'])
  })

  test('fails where values are not finite', async () => {
    const { result } = await judged((name, given, session) =>
      name === 'hidden' ? withNumbers(given, () => Number.NaN) : noisy(1e-3)(name, given, session),
    )
    expect([result.verdict, result.table?.rows[0]?.at(-1)]).toEqual([
      'fail',
      expect.stringContaining('values are not finite on one side alone'),
    ])
  })

  test('proves nothing about a layer that it does not compute', async () => {
    const { result } = await judged(noisy(1e-3), { names: { heard: 'said' } })
    expect(result).toMatchObject({
      verdict: 'inconclusive',
      reason: '5 of 7 layers are within their limits; 2 not measured',
      coverage: { compared: 5, expected: 7 },
    })
  })
})

test('layers can have the names of foundation-model-stack', async () => {
  const config = JSON.stringify({ model_type: 'llama', vocab_size: 4 })
  const folder = folderWith({ ...languageFolder('micro'), 'micro/config.json': config })
  const names = { heard: 'model.norm', hidden: 'model.layers.1.mlp' }
  const outcome = await measureFolders(folder, {
    reference: 'trusted:cpu',
    targets: ['tested:cpu'],
    shapes: [{ match: '**', dims: { length: [3] } }],
    kinds: [plantedKind('trusted', { names }, folderRuntime), plantedKind('tested', { names }, folderRuntime)],
    judgedBy: { baseline: testTarget('trusted:cpu,threads=2'), margin: 2 },
    names: 'fms',
  })
  const result = onlyResult(outcome)
  expect(result.verdict).toBe('pass')
  const file = result.artifacts.find(({ name }) => name === 'layers.json')!
  const { layers } = await readLayersFile(join(outcome.folder, file.path))
  expect(layers.map(({ name }) => name)).toEqual([
    ...['embedded', 'mask', 'column'],
    ...['model.base_model.dec_norm', 'model.base_model.layers1.ff_sub_layer', 'logits'],
  ])
})
