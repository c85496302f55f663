import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { promptedFolder } from '../../../../test/support/language-folder.ts'
import type { Result } from '../../../domain/result.ts'
import { WorkerFailure } from '../../../runtimes/failure.ts'
import { folderRuntime } from '../../../runtimes/testing/folder-runtime.ts'
import { inProcess } from '../../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, measureFolders, onlyResult } from '../../testing/judge.ts'
import { type LayerRow, readLayersFile } from '../layers-file.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const STEPS = 4
const NAMES = ['embedded', 'mask', 'column', 'heard', 'hidden', 'logits']
type Asked = Partial<Parameters<typeof measureFolders>[1]>

async function generated(fault: Fault, more: Asked = {}, files = promptedFolder('micro')) {
  const folder = folderWith(files)
  const kinds = [inProcess('folders', folderRuntime), plantedKind('faulty', fault, folderRuntime)]
  const outcome = await measureFolders(folder, {
    mode: 'generate',
    reference: 'folders:cpu',
    targets: ['faulty:cpu'],
    paths: ['micro'],
    sizes: { batchSizes: [2], promptLengths: [40], newTokens: [STEPS] },
    kinds,
    ...more,
  })
  const result = onlyResult(outcome)
  return { result, layers: await layersOf(result, outcome.folder) }
}

async function layersOf({ artifacts }: Result, runFolder: string): Promise<readonly LayerRow[]> {
  const file = artifacts.find(({ name }) => name === 'layers.json')
  return file ? (await readLayersFile(join(runFolder, file.path))).layers : []
}

const at = (layers: readonly LayerRow[], step: number) => layers.filter((layer) => layer.step === step)
const offBy = (layers: readonly LayerRow[]) =>
  layers.filter(({ metrics }) => metrics.max_abs !== 0).map(({ name }) => name)

describe('both sides along one text', () => {
  test('are measured layer by layer at every step, without the padding of the prompts', async () => {
    const { result, layers } = await generated({})
    expect(result).toMatchObject({
      id: 'micro/b2/s40/n4@faulty:cpu',
      verdict: 'captured',
      reason: 'measured 6 layers at 4 steps',
      coverage: { compared: 24, expected: 24 },
      measurements: {
        'layers.prompts': 'bundled prompts',
        'layers.steps': STEPS,
        'layers.e2e_wall_ms': expect.any(Number),
        'reference.e2e_ms': expect.any(Number),
        'target.e2e_ms': expect.any(Number),
      },
    })
    expect(layers.map(({ step, name }) => [step, name])).toEqual(
      Array.from({ length: STEPS }, (_, step) => NAMES.map((name) => [step, name])).flat(),
    )
    expect(offBy(layers)).toEqual([])
    const embedded = layers.filter(({ name }) => name === 'embedded')
    expect(embedded.map(({ shape }) => shape)).toEqual([[2, 40, 2], ...Array(STEPS - 1).fill([2, 1, 2])])
    expect(embedded[0]!.count).toBeLessThan(160)
    expect(embedded.slice(1).map(({ count }) => count)).toEqual([4, 4, 4])
  })

  test('have a fault shown first in the layer that has it, at step 0 and at all later ones', async () => {
    const { layers } = await generated({
      output: (name, given) => (name === 'heard' ? withNumbers(given, (value) => 1.5 * value) : given),
    })
    for (let step = 0; step < STEPS; step++) expect(offBy(at(layers, step))).toEqual(['heard'])
    expect(at(layers, 3).find(({ name }) => name === 'heard')?.metrics.rel_l2).toBeCloseTo(0.5, 6)
  })

  test('see the same tokens where the target itself would choose others', async () => {
    const chosen: (number | null | undefined)[][] = []
    const tokens: (number | null | undefined)[][] = []
    const { layers } = await generated(
      {
        step: (taken) => {
          chosen.push(taken.sequences.map((sequence) => sequence?.chosen))
          tokens.push(taken.sequences.map((sequence) => sequence?.token))
          return taken
        },
      },
      { targets: ['faulty:cpu,model=turned'] },
      { ...promptedFolder('micro'), ...promptedFolder('turned', 1) },
    )
    expect(chosen).toHaveLength(STEPS)
    for (const [step, own] of chosen.entries()) for (const i of [0, 1]) expect(own[i]).not.toBe(tokens[step]![i])
    for (let step = 0; step < STEPS; step++) expect(offBy(at(layers, step))).toEqual(['hidden', 'logits'])
  })

  test('go on where a text would end', async () => {
    const first = await generated({})
    const everyEnd = { eos_token_id: Array.from({ length: 262 }, (_, id) => id) }
    const { layers } = await generated({}, {}, promptedFolder('micro', -1, everyEnd))
    expect(layers).toEqual(first.layers)
  })

  test('hold nothing of what the layers gave in earlier steps', async () => {
    const given: WeakRef<ArrayBufferLike>[][] = Array.from({ length: STEPS }, () => [])
    let step = 0
    const held: number[] = []
    await generated({
      output: (_, tensor) => {
        given[step]!.push(new WeakRef(tensor.bytes.buffer))
        return tensor
      },
      step: (taken) => {
        step = taken.step + 1
        collectGarbage()
        held.push(
          given
            .slice(0, taken.step)
            .flat()
            .filter((bytes) => bytes.deref()).length,
        )
        return taken
      },
    })
    expect(given.map(({ length }) => length)).toEqual(Array(STEPS).fill(NAMES.length))
    expect(held).toEqual([0, 0, 0, 0])
  })

  test('begin again after the death of a worker, with nothing counted twice', async () => {
    let isDead = false
    const { result, layers } = await generated({
      step: (taken) => {
        if (taken.step !== 2 || isDead) return taken
        isDead = true
        throw new WorkerFailure('died', 'the worker was killed')
      },
    })
    expect([result.verdict, result.flags]).toEqual(['captured', ['retried']])
    expect(layers).toHaveLength(STEPS * NAMES.length)
    expect(layers).toEqual((await generated({})).layers)
  })
})

describe('a target', () => {
  test('that gives fewer steps is an error of the target', async () => {
    const { result } = await generated({ steps: 2 })
    expect(result).toMatchObject({ verdict: 'error', error: { stage: 'run', side: 'target' } })
    expect(result.error?.message).toBe('it gave 2 of 4 steps')
  })

  test('that fails while the reference waits for it is an error of the target', async () => {
    const output = (name: string) => {
      if (name === 'heard') throw new Error('out of memory')
      return null
    }
    const { result } = await generated({ output })
    expect(result).toMatchObject({ verdict: 'error', error: { stage: 'run', side: 'target' } })
    expect(result.error?.message).toContain('out of memory')
  })

  test.each([
    [{ taps: false }, 'faulty:cpu cannot give taps'],
    [{ decode: false }, 'faulty:cpu cannot decode'],
  ])('that lacks an ability is skipped: %j', async (capabilities, reason) => {
    const { result } = await generated({ capabilities })
    expect([result.verdict, result.reason]).toEqual(['skip', reason])
  })
})

test('a reference without a number among its logits is an error of the reference', async () => {
  const kinds = [
    inProcess('folders', folderRuntime),
    plantedKind(
      'faulty',
      {
        step: (taken) => ({
          ...taken,
          sequences: taken.sequences.map((sequence) => sequence && { ...sequence, token: null }),
        }),
      },
      folderRuntime,
    ),
  ]
  const { result } = await generated({}, { kinds, reference: 'faulty:cpu', targets: ['folders:cpu'] })
  expect(result).toMatchObject({ verdict: 'error', error: { side: 'reference' } })
  expect(result.error?.message).toBe('no logit of faulty:cpu is a number at step 0, so no text goes on')
})

describe('a model', () => {
  test.each([
    [{ architectures: ['TinyModel'] }, 'its configuration names no architecture …ForCausalLM, only TinyModel'],
    [{ is_encoder_decoder: true }, 'it has an encoder and a decoder'],
  ])('that is no decoder is skipped: %j', async (config, why) => {
    const { result } = await generated({}, {}, promptedFolder('micro', -1, config))
    expect([result.id, result.verdict, result.reason]).toEqual([
      'micro/generate@faulty:cpu',
      'skip',
      `micro cannot generate: ${why}`,
    ])
  })

  test('with too few positions is refused before anything is decoded', async () => {
    const { result } = await generated({}, {}, promptedFolder('micro', -1, { max_position_embeddings: 43 }))
    expect(result.error).toMatchObject({ stage: 'inputs', message: expect.stringContaining('the 43 positions') })
  })

  test('that asks for sampling is told that it is not followed', async () => {
    const notices: string[] = []
    const files = { ...promptedFolder('micro'), 'micro/generation_config.json': '{"do_sample": true}' }
    const { result } = await generated({}, { notice: (text) => notices.push(text) }, files)
    expect(result.verdict).toBe('captured')
    expect(notices).toEqual([
      'generation_config.json of micro asks for sampling; both sides take the most likely token instead',
    ])
  })
})

describe('one forward pass', () => {
  const forward = (more: Asked = {}) => generated({}, { mode: 'model-forward', ...FORWARD, ...more })
  const FORWARD = { sizes: { batchSizes: [2], promptLengths: [40], newTokens: [0] } }

  test('of a decoder has the same padded prompts', async () => {
    const { result, layers } = await forward()
    expect(result.id).toBe('micro/b2/s40/n0@faulty:cpu')
    expect(layers.every(({ step }) => step === 0)).toBe(true)
    expect(layers).toEqual(at((await generated({})).layers, 0))
  })

  test('has generated inputs where sizes are given', async () => {
    const { result, layers } = await forward({ shapes: [{ match: '**', dims: { length: [3] } }] })
    expect(result.id).toBe('micro/model-forward@faulty:cpu')
    expect(layers[0]!.shape).toEqual([1, 3, 2])
  })
})
