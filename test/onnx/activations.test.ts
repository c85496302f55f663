import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { realModels } from '../../examples/real-models/real-models.ts'
import type { Tensor, TensorSource } from '../../src/domain/tensor.ts'
import { memoryTrace } from '../../src/files/formats/memory-trace.ts'
import { layerSites } from '../../src/onnx/layers/layer-sites.ts'
import { type OnnxModel, readModel } from '../../src/onnx/model.ts'
import { ProductCache } from '../../src/runs/cache/cache.ts'
import { RunSpace } from '../../src/runs/cache/run-space.ts'
import { CaseClock } from '../../src/runs/execute/case-clock.ts'
import { CaseLab, RunLab } from '../../src/runs/execute/lab.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { recordActivations } from '../../src/suites/tensors/inside/activations.ts'
import { captureTensors, floats, numbersOf, testPool } from '../conformance/capture.ts'
import { temporaryFolder } from '../support/assay.ts'
import { tensor } from '../support/small-models.ts'

const reference = readTarget('ort:cpu,optimization=disabled')
const pool = testPool()
afterAll(() => pool.close())

async function record(model: OnnxModel, inputs: ReadonlyMap<string, Tensor>) {
  const folder = temporaryFolder('activations')
  const cache = await ProductCache.open({ folder: join(folder, 'cache'), notice: () => {} })
  const space = new RunSpace({ onDisk: () => cache.makeFolder(), memory: null })
  const clock = new CaseClock(null, new AbortController().signal)
  const lab = new CaseLab(new RunLab({ cache, space, runFolder: folder, recompute: false }), clock, {
    onStep() {},
    onProgress() {},
  })
  const info = await pool.probe(reference)
  if (!info.available) throw new Error(info.reason)
  const loaded = { model, path: model.path ?? '', digest: 'digest' }
  const sites = layerSites(model.graph)
  const request = { reference, info, model: loaded, inputs: memoryTrace(inputs), inputsDigest: 'inputs', sites }
  const activations = await recordActivations(request, pool, lab)
  const values = new Map([...activations.layers.values()].flatMap((layer) => [...layer.values]))
  return { ...activations, values, steps: lab.steps.map(({ title }) => title.replace(/^.*: /, '')) }
}

async function numbersIn(source: TensorSource | undefined): Promise<number[]> {
  if (!source) return []
  const parts: Uint8Array[] = []
  for await (const part of source.chunks()) parts.push(part)
  const bytes = new Uint8Array(Buffer.concat(parts))
  return numbersOf({ dtype: 'float32', shape: source.shape, bytes })
}

test('what happens inside Silero is all that the taken branches compute, and its outputs are the same', async () => {
  const model = await readModel(realModels.find(({ id }) => id === 'silero_vad_v5')!.path)
  const wave = Array.from({ length: 512 }, (_, i) => Math.sin(i / 9))
  const inputs = new Map([
    ['input', floats(wave, [1, 512])],
    ['state', floats(new Array(256).fill(0), [2, 1, 128])],
    ['sr', tensor('int64', [], [16000n])],
  ])
  const whole = await captureTensors(pool, reference, { format: 'onnx', path: model.path! }, memoryTrace(inputs))
  const { values, taken } = await record(model, inputs)
  expect(taken.size).toBe(7)
  expect(values.size).toBeGreaterThan(90)
  for (const name of ['output', 'stateN']) {
    expect(await numbersIn(values.get(name)), name).toEqual(numbersOf(whole.tensors.get(name)))
  }
})
