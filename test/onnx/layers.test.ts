import { describe, expect, test } from 'vitest'
import { buildModel, type NodeParts } from '../../src/onnx/builder.ts'
import { assay, assayJson, project } from '../support/assay.ts'
import { tensor } from '../support/small-models.ts'

/** x · w1 → + b → · w2, with Softmax along two axes at the end. */
function chain(bias: readonly number[] = [1, 2, 3]): Uint8Array {
  const softmax = (axis: bigint): NodeParts => ({
    op: 'Softmax',
    inputs: ['scaled'],
    outputs: [`soft${axis}`],
    attributes: { axis },
  })
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 2] }],
    outputs: [
      { name: 'soft0', dtype: 'float32' },
      { name: 'soft1', dtype: 'float32' },
    ],
    initializers: {
      // A weight whose name sorts before the activation's.
      a_weight: tensor('float32', [2, 3], [1, 2, 3, 4, 5, 6]),
      bias: tensor('float32', [3], bias),
      scale: tensor('float32', [1], [0.25]),
    },
    nodes: [
      { op: 'MatMul', name: 'product', inputs: ['x', 'a_weight'], outputs: ['xw'] },
      { op: 'Add', inputs: ['xw', 'bias'], outputs: ['sum'] },
      { op: 'Mul', name: 'scaling', inputs: ['sum', 'scale'], outputs: ['scaled'] },
      softmax(0n),
      softmax(1n),
    ],
  })
}

const LAYERS = [
  'layer_MatMul_product',
  'layer_Add_sum',
  'layer_Mul_scaling',
  'layer_Softmax_soft0',
  'layer_Softmax_soft1',
]
const folder = project({ 'chain.onnx': chain(), 'faulty.onnx': chain([1, 2.5, 3]) })

test('layers are listed in graph order, by stable names, after the whole model', async () => {
  const listed = await assay(['list', 'chain.onnx', '--scope', 'full,layers', '--target', 'ort-web:wasm'], folder)
  const ids = ['full_model', ...LAYERS].map((scope) => `chain/${scope}@ort-web:wasm`)
  expect(listed.stdout.trim().split('\n')).toEqual(ids)
  const old = await assay(['list', 'chain.onnx', '--scope', 'full,layers', '-k', 'chain_layer and product'], folder)
  expect(old.stdout).toBe('chain/layer_MatMul_product@ort-web:wasm\n')
})

test('a fault is found in its layer and nowhere else, and leaves the layer as files', async () => {
  const targets = ['--target', 'faulty=ort:cpu,model=faulty.onnx', '--reference', 'ort:cpu']
  const args = ['test', 'chain.onnx', '--scope', 'full,layers', '--dim', 'n=4', ...targets]
  const { code, results } = await assayJson(args, folder)
  expect(code).toBe(1)
  expect(results.filter(({ verdict }) => verdict !== 'pass').map(({ scope }) => scope)).toEqual([
    'full_model',
    'layer_Add_sum',
  ])
  const layer = results.find(({ scope }) => scope === 'layer_Add_sum')!
  const files = ['layer.onnx', 'inputs.safetensors', 'reference.safetensors', 'target.safetensors']
  expect(layer.artifacts.map(({ name }) => name)).toEqual(files)
  expect(layer.reproduce).not.toContain('--scope')
  expect(layer.metrics.find(({ name }) => name === 'max_abs')?.value).toBeCloseTo(0.5, 5)
})

test.each([
  [[], 5],
  [['--isolate', 'case'], undefined],
])('with %j, this many layers share a session: %s', async (isolation, expected) => {
  const targets = ['--reference', 'ort:cpu', '--target', 'ort:cpu,threads=2']
  const args = ['test', 'chain.onnx', '--scope', 'layers', '--dim', 'n=4', ...targets, ...isolation]
  const { results } = await assayJson(args, folder)
  expect(results.map(({ verdict }) => verdict)).toEqual(LAYERS.map(() => 'pass'))
  const shared = results.map(({ measurements }) => measurements['target.layers_in_session'])
  expect(shared).toEqual(LAYERS.map(() => expected))
})

test('ops that belong together are one layer', async () => {
  const group = ['--layer-group', 'MatMul+Add', '--scope', 'layers', '--dim', 'n=4']
  const listed = await assay(['list', 'chain.onnx', ...group, '-k', 'MatMul or Add'], folder)
  expect(listed.stdout).toBe('chain/layer_MatMul+Add_product@ort-web:wasm\n')
  const targets = ['--target', 'faulty=ort:cpu,model=faulty.onnx', '--reference', 'ort:cpu']
  const { results } = await assayJson(['test', 'chain.onnx', ...group, ...targets], folder)
  expect(results.map(({ scope, verdict }) => `${scope} ${verdict}`)).toEqual([
    'layer_MatMul+Add_product fail',
    ...LAYERS.slice(2).map((scope) => `${scope} pass`),
  ])
  expect(results[0]!.reproduce).toContain('--layer-group MatMul+Add')
  expect(results[0]!.outputs.map(({ name }) => name)).toEqual(['sum'])
  const wrong = await assay(['test', 'chain.onnx', '--layer-group', 'MatMul'], folder)
  expect([wrong.code, wrong.stderr]).toEqual([
    4,
    'assay: --layer-group takes two or more ops such as Conv+Clip, found "MatMul"\n',
  ])
})

/** Four times the same Relu, then one on another shape. */
function relus(): Uint8Array {
  const shape = tensor('int64', [1], [6n])
  const names = ['a', 'b', 'c', 'd']
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [2, 3] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: { shape },
    nodes: [
      ...names.map((name, i) => ({ op: 'Relu', name, inputs: [i === 0 ? 'x' : `v${i - 1}`], outputs: [`v${i}`] })),
      { op: 'Reshape', name: 'flat', inputs: ['v3', 'shape'], outputs: ['r'] },
      { op: 'Relu', name: 'e', inputs: ['r'], outputs: ['y'] },
    ],
  })
}

describe('layers that compute the same', () => {
  const place = project({ 'same.onnx': relus() })
  const args = ['test', 'same.onnx', '--scope', 'layers', '--jobs', '1', '-k', 'Relu', '--target', 'ort-web:wasm']

  test('are judged once on random inputs', async () => {
    const { code, results } = await assayJson([...args, '--layer-inputs', 'random'], place)
    expect([code, ...results.map(({ verdict }) => verdict)]).toEqual([0, ...Array(5).fill('pass')])
    const first = 'same/layer_Relu_a@ort-web:wasm'
    expect(results.map(({ sameAs }) => sameAs)).toEqual([undefined, first, first, first, undefined])
    expect(results[1]!.measurements['input.x']).toBe('float32 (2, 3), random')
    expect(results[1]!.reproduce).toContain('--layer-inputs random')
    expect(results[1]!.reproduce).toContain('layer_Relu_b@')
    const wrong = await assay([...args, '--layer-inputs', 'randm'], place)
    expect([wrong.code, wrong.stderr]).toEqual([4, 'assay: unknown --layer-inputs "randm"; did you mean "random"?\n'])
  })
})

describe('a whole model that fails is seen in the light of its layers', () => {
  const args = ['test', 'chain.onnx', '--scope', 'full,layers', '--dim', 'n=4']

  test('the report has one line per model, and where to look first', async () => {
    const ran = await assay([...args, '--target', 'faulty=ort:cpu,model=faulty.onnx'], folder)
    expect(ran.stdout).toMatch(
      /layers\n {2}✗ chain\/full_model@faulty: fail, 4 of 5 layers pass\n {4}look at these first\n {6}layer_Add_sum {2}sum: \d+ of 12 values are over/,
    )
    expect(ran.stdout).not.toMatch(/pass +chain\/layer_MatMul/)
  })
})

test('a scope that does not exist is a usage error', async () => {
  const ran = await assay(['test', 'chain.onnx', '--scope', 'layer'], folder)
  expect([ran.code, ran.stderr]).toEqual([4, 'assay: unknown --scope "layer"; did you mean "layers"?\n'])
})
