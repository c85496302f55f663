import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import type { Tensor } from '../../src/domain/tensor.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { writeTensorFile } from '../../src/onnx/tensors/value-file.ts'
import { assay, assayJson, project } from '../support/assay.ts'
import { affineModel, constantModel, tensor } from '../support/small-models.ts'

const floats = (...values: number[]) => tensor('float32', [values.length], values)

/** The reference computes the model's outputs, the target has them on disk. */
interface Edge {
  readonly model: Uint8Array
  readonly target: readonly Tensor[]
  readonly verdict: 'pass' | 'fail'
  readonly because?: string
}

function constants(reference: Tensor, target: Tensor, verdict: Edge['verdict'], because?: string): Edge {
  return { model: constantModel(reference), target: [target], verdict, ...(because && { because }) }
}

/** Scores and the place of the largest. */
function argMax(target: number, verdict: Edge['verdict'], because?: string): Edge {
  const scores = tensor('float32', [1, 4], [1, 3, 3, 2])
  const model = buildModel({
    nodes: [
      { op: 'Constant', outputs: ['scores'], attributes: { value: scores } },
      { op: 'ArgMax', inputs: ['scores'], outputs: ['best'], attributes: { axis: 1n } },
    ],
    outputs: [
      { name: 'scores', dtype: 'float32', shape: [1, 4] },
      { name: 'best', dtype: 'int64', shape: [1, 1] },
    ],
  })
  const place = tensor('int64', [1, 1], [BigInt(target)])
  return { model, target: [scores, place], verdict, ...(because && { because }) }
}

/** 100 bytes that a quantising op makes, `off` of them with another value. */
function quantised(off: number, by: number, verdict: Edge['verdict'], because?: string): Edge {
  const steps = Array.from({ length: 100 }, (_, i) => i)
  const model = buildModel({
    initializers: { scale: tensor('float32', [], [0.5]), zero: tensor('uint8', [], [0]) },
    nodes: [
      { op: 'Constant', outputs: ['x'], attributes: { value: floats(...steps.map((step) => step / 2)) } },
      { op: 'QuantizeLinear', inputs: ['x', 'scale', 'zero'], outputs: ['y'] },
    ],
    outputs: [{ name: 'y', dtype: 'uint8', shape: [100] }],
  })
  const values = steps.map((step) => (step < off ? step + by : step))
  return { model, target: [tensor('uint8', [100], values)], verdict, ...(because && { because }) }
}

const bytes = tensor('uint8', [4], [1, 2, 3, 4])
const small = [1e-6, -2e-6, 3e-6]

const edges: Readonly<Record<string, Edge>> = {
  'nan-number': constants(
    floats(1, Number.NaN, 3),
    floats(1, 2, 3),
    'fail',
    '1 of 3 values are NaN or infinite and differ between the sides',
  ),
  'number-nan': constants(floats(1, 2, 3), floats(1, Number.NaN, 3), 'fail', '1 of 3 values are NaN or infinite'),
  'nan-nan': constants(floats(1, Number.NaN, 3), floats(1, Number.NaN, 3), 'pass'),
  'nan-elsewhere': constants(
    floats(Number.NaN, 2, 3),
    floats(1, Number.NaN, 3),
    'fail',
    '2 of 3 values are NaN or infinite',
  ),
  'inf-number': constants(floats(1, Infinity), floats(1, 3.4e38), 'fail', '1 of 2 values are NaN or infinite'),
  'number-inf': constants(floats(1, 3.4e38), floats(1, Infinity), 'fail', '1 of 2 values are NaN or infinite'),
  'inf-minus-inf': constants(floats(1, Infinity), floats(1, -Infinity), 'fail', '1 of 2 values are NaN or infinite'),
  'inf-nan': constants(floats(1, Infinity), floats(1, Number.NaN), 'fail', '1 of 2 values are NaN or infinite'),
  'inf-inf': constants(floats(1, -Infinity), floats(1, -Infinity), 'pass'),
  'zero-minus-zero': constants(floats(0, 1), floats(-0, 1), 'pass'),
  'other-shape': constants(
    tensor('float32', [6, 1], [1, 2, 3, 4, 5, 6]),
    tensor('float32', [1, 6], [1, 2, 3, 4, 5, 6]),
    'fail',
    'shape (1, 6), the reference has (6, 1)',
  ),
  'other-dtype': constants(
    floats(1, 2),
    tensor('float64', [2], [1, 2]),
    'fail',
    'dtype float64, the reference has float32',
  ),
  'beyond-2-53': constants(
    tensor('int64', [2], [1n, 2n ** 53n + 1n]),
    tensor('int64', [2], [1n, 2n ** 53n]),
    'fail',
    '1 of 2 values differ',
  ),
  'same-beyond-2-53': constants(tensor('int64', [1], [2n ** 53n + 1n]), tensor('int64', [1], [2n ** 53n + 1n]), 'pass'),
  'near-zero-1-percent': constants(
    floats(...small),
    floats(1e-6, -2e-6, 3.03e-6),
    'fail',
    '1 of 3 values are over the limit',
  ),
  'near-zero-scalar-1-percent': constants(floats(1e-6), floats(1.01e-6), 'fail', '1 of 1 values are over the limit'),
  'near-zero-rounded': constants(floats(...small), floats(...small.map((value) => value * (1 + 1e-6))), 'pass'),
  'all-zero-1e-6': constants(floats(0, 0), floats(0, 1e-6), 'fail', '1 of 2 values are over the limit'),
  'argmax-tie': argMax(2, 'pass'),
  'argmax-other-value': argMax(3, 'fail', '1 of 1 indices select another value'),
  'argmax-out-of-range': argMax(4, 'fail', '1 of 1 indices are out of range'),
  'uint8-off-by-one': constants(bytes, tensor('uint8', [4], [1, 2, 3, 5]), 'fail', '1 of 4 values differ'),
  'quantised-1-of-100-off-by-one': quantised(1, 1, 'pass'),
  'quantised-2-of-100-off-by-one': quantised(2, 1, 'fail', '2 of 100 values differ, 1 may'),
  'quantised-1-of-100-off-by-two': quantised(1, 2, 'fail', '1 of 100 values are more than 1 off'),
  'bool-flipped': constants(tensor('bool', [2], [1, 0]), tensor('bool', [2], [1, 1]), 'fail', '1 of 2 values differ'),
}

describe('a value at the edge', () => {
  let results: readonly Result[] = []

  beforeAll(async () => {
    const folder = project(
      Object.fromEntries(Object.entries(edges).map(([name, { model }]) => [`models/${name}.onnx`, model])),
    )
    for (const [name, { target }] of Object.entries(edges)) {
      mkdirSync(join(folder, 'stored', name), { recursive: true })
      for (const [i, value] of target.entries())
        await writeTensorFile(join(folder, 'stored', name, `output_${i}.pb`), 'y', value)
    }
    results = (await assayJson(['test', '--target', 'stored=recorded:./stored'], folder)).results
  })

  test.each(Object.keys(edges))('%s', (name) => {
    const result = results.find(({ model }) => model === name)!
    const { verdict, because } = edges[name]!
    expect(`${result.verdict} ${result.reason ?? result.error?.message ?? ''}`).toContain(verdict)
    expect(result.verdict).toBe(verdict)
    if (because) expect(result.reason).toContain(because)
    else expect(result.reason).toBeUndefined()
  })
})

describe('outputs that prove nothing', () => {
  const args = ['test', '--target', 'ort:cpu,threads=2']
  const folder = project({ 'zero.onnx': affineModel(0), 'varied.onnx': affineModel() })

  test('are inconclusive, alone nothing was judged, and --strict makes them a failure', async () => {
    const { code, results } = await assayJson([...args, 'zero.onnx'], folder)
    expect(results[0]).toMatchObject({ verdict: 'inconclusive', flags: ['degenerate'] })
    expect(results[0]!.reason).toContain('all 6 elements are the same on both sides, which proves nothing')
    expect(code).toBe(5)
    expect((await assay([...args, 'zero.onnx', '--strict'], folder)).code).toBe(1)
  })

  test('do not matter beside a case that passed', async () => {
    const { code, summary } = await assayJson([...args, 'zero.onnx', 'varied.onnx'], folder)
    expect(summary.counts).toMatchObject({ inconclusive: 1, pass: 1 })
    expect(code).toBe(0)
  })

  test('are judged where the user gave the inputs', async () => {
    const { code, results } = await assayJson([...args, 'zero.onnx', '--input', 'x=1,2,3,4,5,6'], folder)
    expect(results[0]!.verdict).toBe('pass')
    expect(code).toBe(0)
  })
})

describe('a tolerance that was asked for', () => {
  const folder = project({ 'reference.onnx': affineModel(), 'off.onnx': affineModel(2.002) })
  const args = ['test', 'reference.onnx', '--target', 'off=ort:cpu,model=off.onnx']

  test('decides, and the report says which rule and what would have passed', async () => {
    const failed = (await assayJson(args, folder)).results[0]!
    expect(failed).toMatchObject({ verdict: 'fail' })
    expect(failed.outputs[0]!.rule).toBe('float32 whole model (table): |t−r| ≤ 1e-3·|r| + 1e-4·max|r|, relL2 ≤ 1e-4')
    expect(failed.outputs[0]!.wouldPass).toMatch(/relL2/)
    const passed = (await assayJson([...args, '--rtol', '0.01'], folder)).results[0]!
    expect(passed.verdict).toBe('pass')
    expect(passed.outputs[0]!.rule).toBe('command line: |t−r| ≤ 0.01·|r| + 1e-9')
  })
})
