import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { floats, numbersOf } from '../../../../test/conformance/capture.ts'
import { tensor } from '../../../../test/support/small-models.ts'
import type { Tensor, TensorSource } from '../../../domain/tensor.ts'
import { memoryTrace } from '../../../files/formats/memory-trace.ts'
import { buildModel, type NodeParts } from '../../../onnx/builder.ts'
import { layerSites } from '../../../onnx/layers/layer-sites.ts'
import { modelFromBytes, type OnnxModel } from '../../../onnx/model.ts'
import { ProductCache } from '../../../runs/cache/cache.ts'
import { RunSpace } from '../../../runs/cache/run-space.ts'
import { CaseClock } from '../../../runs/execute/case-clock.ts'
import { CaseLab, RunLab } from '../../../runs/execute/lab.ts'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { inProcessPool, testTarget } from '../../../runtimes/testing/in-process-ort.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import { recordActivations } from './activations.ts'

const reference = testTarget('ort:cpu,optimization=disabled')
const pool = inProcessPool(freshFolder())
afterAll(() => pool.close())

async function record(model: OnnxModel, inputs: ReadonlyMap<string, Tensor>) {
  const folder = freshFolder()
  const cache = await ProductCache.open({ folder: join(folder, 'cache'), notice: () => {} })
  const space = new RunSpace({ onDisk: () => cache.makeFolder(), memory: null })
  const clock = new CaseClock(null, new AbortController().signal)
  const runLab = new RunLab({ cache, space, runFolder: folder, recompute: false })
  const lab = new CaseLab(runLab, clock, { onStep() {}, onProgress() {} })
  const info = await pool.probe(reference)
  if (!info.available) throw new Error(info.reason)
  const loaded = { model, path: '', digest: 'digest' }
  const sites = layerSites(model.graph)
  const request = { reference, info, model: loaded, inputs: memoryTrace(inputs), inputsDigest: 'inputs', sites }
  const activations = await recordActivations(request, pool, lab)
  const values = new Map([...activations.layers.values()].flatMap((layer) => [...layer.values]))
  return { ...activations, values, steps: lab.steps.map(({ title }) => title.replace(/^.*: /, '')) }
}

async function numbersIn(source: TensorSource | undefined): Promise<number[]> {
  return source ? numbersOf({ dtype: 'float32', shape: source.shape, bytes: await readWhole(source) }) : []
}

const choose: NodeParts = {
  op: 'If',
  inputs: ['positive'],
  outputs: ['y'],
  attributes: {
    then_branch: { nodes: [{ op: 'Exp', inputs: ['s'], outputs: ['t'] }], outputs: [{ name: 't' }] },
    else_branch: { nodes: [{ op: 'Neg', inputs: ['s'], outputs: ['t'] }], outputs: [{ name: 't' }] },
  },
}

const branching = (): Promise<OnnxModel> =>
  modelFromBytes(
    buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [1] }],
      initializers: { zero: tensor('float32', [], [0]), two: tensor('float32', [1], [2]) },
      nodes: [
        { op: 'Mul', inputs: ['x', 'two'], outputs: ['s'] },
        { op: 'ReduceSum', inputs: ['x'], outputs: ['sum'], attributes: { keepdims: 0n } },
        { op: 'Greater', inputs: ['sum', 'zero'], outputs: ['positive'] },
        choose,
      ],
    }),
    '.',
  )

describe('what happens inside a model', () => {
  test.each([
    [3, 'then_branch', 'Exp', Math.exp(6)],
    [-3, 'else_branch', 'Neg', 6],
  ])('for x = %d is its %s', async (x, branch, op, y) => {
    const { flat, taken, values, steps } = await record(await branching(), new Map([['x', floats([x])]]))
    expect(Object.fromEntries(taken)).toEqual({ 3: branch })
    expect(flat.graph.node.at(-1)).toMatchObject({ opType: op, output: ['y'] })
    expect([...values.keys()]).toEqual(['x', 's', 'sum', 'positive', 'y'])
    expect(await numbersIn(values.get('s'))).toEqual([2 * x])
    expect((await numbersIn(values.get('y')))[0]).toBeCloseTo(y, 3)
    expect(steps.filter((title) => !title.startsWith('compile'))).toEqual(['conditions 1', 'shapes', 'values 1'])
  })

  test('is seen around values that are no tensors', async () => {
    const model = await modelFromBytes(
      buildModel({
        inputs: [{ name: 'x', dtype: 'float32', shape: [2] }],
        outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
        initializers: { zero: tensor('int64', [], [0n]) },
        nodes: [
          { op: 'Neg', inputs: ['x'], outputs: ['n'] },
          { op: 'SequenceConstruct', inputs: ['n', 'x'], outputs: ['seq'] },
          { op: 'SequenceAt', inputs: ['seq', 'zero'], outputs: ['first'] },
          { op: 'Abs', inputs: ['first'], outputs: ['y'] },
        ],
      }),
      '.',
    )
    const { values } = await record(model, new Map([['x', floats([1, 2])]]))
    expect([...values.keys()]).toEqual(['x', 'n', 'first', 'y'])
    expect(await numbersIn(values.get('first'))).toEqual([-1, -2])
  })
})
