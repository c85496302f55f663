import { afterAll, describe, expect, test } from 'vitest'
import { realModels } from '../../examples/real-models/real-models.ts'
import type { Tensor, TensorSpec } from '../../src/domain/tensor.ts'
import { memoryTrace } from '../../src/files/formats/memory-trace.ts'
import { type Branch, type FlatModel, flatten, type NodeKey } from '../../src/onnx/flatten.ts'
import { findLayer, indexFlat } from '../../src/onnx/layers/layer-border.ts'
import { layerModel } from '../../src/onnx/layers/layer-model.ts'
import { layerSites } from '../../src/onnx/layers/layer-sites.ts'
import { type OnnxModel, readModel, writeModel } from '../../src/onnx/model.ts'
import { inferDTypes, tapModel } from '../../src/onnx/taps.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { encodeBigInts, encodeNumbers } from '../../src/tensors/encode.ts'
import { captureTensors, testPool } from '../conformance/capture.ts'

const target = readTarget('ort:cpu,optimization=disabled')
const pool = testPool({ size: 2 })
afterAll(() => pool.close())

type Values = ReadonlyMap<string, Tensor>

function wave(shape: readonly number[]): Tensor {
  const count = shape.reduce((product, size) => product * size, 1)
  const values = Array.from({ length: count }, (_, i) => Math.sin(i * 0.37))
  return { dtype: 'float32', shape, bytes: encodeNumbers('float32', values) }
}

const MODELS: readonly (readonly [string, Values])[] = [
  [
    'silero_vad_v5',
    new Map([
      ['input', wave([1, 512])],
      ['state', wave([2, 1, 128])],
      ['sr', { dtype: 'int64', shape: [], bytes: encodeBigInts('int64', [16000n]) }],
    ]),
  ],
  ['ch_ppocr_mobile_v2.0_cls_infer', new Map([['x', wave([1, 3, 48, 192])]])],
]

async function valuesOf(model: OnnxModel, flat: FlatModel, names: readonly string[], inputs: Values): Promise<Values> {
  const { bytes } = tapModel(model, flat, names)
  const ref = { format: 'onnx', bytes, folder: model.folder } as const
  return (await captureTensors(pool, target, ref, memoryTrace(new Map(inputs)))).tensors
}

/** Runs the model as far as its conditions, again and again, until every If is decided. */
async function decide(model: OnnxModel, inputs: Values): Promise<FlatModel> {
  const taken = new Map<NodeKey, Branch>()
  for (;;) {
    const flat = flatten(model, taken)
    if (flat.undecided.size === 0) return flat
    const values = await valuesOf(model, flat, [...new Set(flat.undecided.values())], inputs)
    for (const [key, name] of flat.undecided) {
      taken.set(key, values.get(name)!.bytes[0] ? 'then_branch' : 'else_branch')
    }
  }
}

describe.each(MODELS)('%s', (id, inputs) => {
  test('gives the same with its branches in place and every value tapped, and so does each layer alone', async () => {
    const model = await readModel(realModels.find((known) => known.id === id)!.path)
    const whole = await captureTensors(
      pool,
      target,
      { format: 'onnx', path: model.path! },
      memoryTrace(new Map(inputs)),
    )
    const flat = await decide(model, inputs)
    const layers = [...flat.nodes].filter(([, { opType }]) => opType !== 'Constant')
    const values = new Map([
      ...inputs,
      ...(await valuesOf(
        model,
        flat,
        [...new Set(layers.flatMap(([, { output }]) => output.filter(Boolean)))],
        inputs,
      )),
    ])
    for (const [name, tensor] of whole.tensors) expect(values.get(name), name).toEqual(tensor)

    const index = indexFlat(flat)
    const source = { original: model, flat, dtypes: inferDTypes(flat) }
    const different: string[] = []
    await Promise.all(
      [0, 1].map(async (half) => {
        for (const [, node] of layers.filter((_, i) => i % 2 === half)) {
          const layer = findLayer([node], index)
          const given = new Map<string, Tensor>(layer.inputs.map((name) => [name, values.get(name)!]))
          const specs = new Map<string, TensorSpec>(Array.from(given, ([name, tensor]) => [name, { name, ...tensor }]))
          const bytes = writeModel(await layerModel(source, layer, specs))
          const ref = { format: 'onnx', bytes, folder: model.folder } as const
          const { tensors } = await captureTensors(pool, target, ref, memoryTrace(given))
          const isSame = layer.outputs.every((name) => equal(tensors.get(name), values.get(name)))
          if (!isSame) different.push(`${node.opType} ${node.name}`)
        }
      }),
    )
    expect(different).toEqual([])
    const keys = new Set(layerSites(model.graph).flatMap(({ keys }) => keys))
    expect(layers.filter(([key]) => !keys.has(key) && !key.includes('output'))).toEqual([])
    expect(layers.length).toBeGreaterThan(90)
  })
})

function equal(a: Tensor | undefined, b: Tensor | undefined): boolean {
  return a !== undefined && b !== undefined && a.dtype === b.dtype && Buffer.compare(a.bytes, b.bytes) === 0
}
