import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { languageFolder, languageModel } from '../../../test/support/language-folder.ts'
import type { Result } from '../../domain/result.ts'
import { folderRuntime } from '../../runtimes/testing/folder-runtime.ts'
import { inProcess } from '../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, measureFolders, onlyResult } from '../testing/judge.ts'
import { type LayerRow, readLayersFile } from './layers-file.ts'

const SIDES = { reference: 'folders:cpu', targets: ['faulty:cpu'], shapes: [{ match: '**', dims: { length: [3] } }] }

async function measured(fault: Fault, more: Partial<Judging> = {}, files = languageFolder('micro')) {
  const folder = folderWith(files)
  const kinds = [inProcess('folders', folderRuntime), plantedKind('faulty', fault, folderRuntime)]
  const outcome = await measureFolders(folder, { ...SIDES, ...more, kinds })
  const result = onlyResult(outcome)
  return { result, layers: await layersOf(result, outcome.folder) }
}

/** The figures of every layer. */
async function layersOf({ artifacts }: Result, runFolder: string) {
  const file = artifacts.find(({ name }) => name === 'layers.json')
  return file ? (await readLayersFile(join(runFolder, file.path))).layers : []
}

const offBy = (layers: readonly LayerRow[]) =>
  layers.filter(({ metrics }) => metrics.max_abs !== 0).map(({ name }) => name)
/** Half as much again where these layers are given. */
const wrongIn = (...names: string[]): Fault => ({
  output: (name, given) => (names.includes(name) ? withNumbers(given, (value) => 1.5 * value) : given),
})

describe('both sides of a folder', () => {
  test('that agree are measured layer by layer, and nothing is judged', async () => {
    const { result, layers } = await measured({})
    expect(result).toMatchObject({
      id: 'micro/model-forward@faulty:cpu',
      suite: 'layers',
      verdict: 'captured',
      reason: 'measured 6 layers',
      coverage: { compared: 6, expected: 6 },
    })
    expect(layers.map(({ name }) => name)).toEqual(['embedded', 'mask', 'column', 'heard', 'hidden', 'logits'])
    expect(offBy(layers)).toEqual([])
    expect(layers[0]).toMatchObject({ count: expect.any(Number), metrics: { rel_l2: 0, cosine: 1 } })
  })

  test('that differ in one layer show that one', async () => {
    const { result, layers } = await measured(wrongIn('hidden'))
    expect(offBy(layers)).toEqual(['hidden'])
    expect(layers.find(({ name }) => name === 'hidden')?.metrics.rel_l2).toBeCloseTo(0.5, 12)
    expect(result.metrics.find(({ name }) => name === 'rel_l2')?.value).toBeCloseTo(0.5, 12)
    expect(result.table?.head).toEqual(['layers', 'rel_l2', 'max_abs', 'cosine', ''])
    expect(result.table?.rows.find(([name]) => name === 'hidden')).toEqual([
      'hidden',
      '0.5',
      expect.any(String),
      '1',
      '',
    ])
  })

  test('compute on their own values: an error goes on to the layers after it', async () => {
    const { layers } = await measured(
      {},
      { paths: ['micro'], targets: ['faulty:cpu,model=turned'] },
      {
        ...languageFolder('micro'),
        ...languageFolder('turned', languageModel(-2)),
      },
    )
    expect(offBy(layers)).toEqual(['hidden', 'logits'])
  })
})

describe('a target', () => {
  test('whose layer is not finite is told apart from one that is far off', async () => {
    const { result, layers } = await measured({
      output: (name, given) => (name === 'heard' ? withNumbers(given, () => Number.NaN) : given),
    })
    const heard = layers.find(({ name }) => name === 'heard')!
    expect([heard.metrics.max_abs, heard.metrics.nonfinite_target]).toEqual([null, heard.count])
    const row = result.table!.rows.find(([name]) => name === 'heard')!
    expect(row.slice(1)).toEqual([
      'not measured',
      'not measured',
      'not measured',
      expect.stringMatching(/^\d+ values are not finite on one side alone$/),
    ])
  })

  test('that gives a layer under another name shows both as not measured', async () => {
    const { result, layers } = await measured({ names: { heard: 'said' } })
    const problems = layers.filter(({ problem }) => problem).map(({ name, problem }) => [name, problem])
    expect(problems.sort()).toEqual([
      ['heard', 'only the reference computes it'],
      ['said', 'only the target computes it'],
    ])
    expect(result).toMatchObject({
      reason: 'measured 5 of 7 layers; layers.json says why not the others',
      coverage: { compared: 5, expected: 7 },
    })
  })

  test('that cannot be looked into is skipped', async () => {
    const { result } = await measured({ capabilities: { taps: false } })
    expect([result.verdict, result.reason]).toEqual(['skip', 'faulty:cpu cannot give taps'])
  })

  test('that fails while the reference waits for it is an error of the target', async () => {
    const refuse = () => {
      throw new Error('out of memory')
    }
    const { result } = await measured({ run: refuse })
    expect(result).toMatchObject({ verdict: 'error', error: { stage: 'run', side: 'target' } })
    expect(result.error?.message).toContain('out of memory')
  })
})
