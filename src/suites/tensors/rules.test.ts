import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { constantModel, tensor } from '../../../test/support/small-models.ts'
import type { Result } from '../../domain/result.ts'
import type { Tensor } from '../../domain/tensor.ts'
import { buildModel } from '../../onnx/builder.ts'
import { writeTensorFile } from '../../onnx/tensors/value-file.ts'
import { plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, judgeModels, onlyResult } from '../testing/judge.ts'

const floats = (...values: number[]) => tensor('float32', [values.length], values)

/** The reference computes the model's outputs, the target has them on disk. */
interface Edge {
  readonly model: Uint8Array
  readonly target: readonly Tensor[]
  /** null: it passes. */
  readonly because: string | null
}

function constants(reference: Tensor, target: Tensor, because: string | null): Edge {
  return { model: constantModel(reference), target: [target], because }
}

/** Scores and the place of the largest. */
function argMax(target: number, because: string | null, last = 0n): Edge {
  const scores = tensor('float32', [1, 4], [1, 3, 3, 2])
  const model = buildModel({
    nodes: [
      { op: 'Constant', outputs: ['scores'], attributes: { value: scores } },
      { op: 'ArgMax', inputs: ['scores'], outputs: ['best'], attributes: { axis: 1n, select_last_index: last } },
    ],
    outputs: [
      { name: 'scores', dtype: 'float32', shape: [1, 4] },
      { name: 'best', dtype: 'int64', shape: [1, 1] },
    ],
  })
  return { model, target: [scores, tensor('int64', [1, 1], [BigInt(target)])], because }
}

/** 100 bytes that a quantising op makes, `off` of them with another value. */
function quantised(off: number, by: number, because: string | null): Edge {
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
  return { model, target: [tensor('uint8', [100], values)], because }
}

const bytes = tensor('uint8', [4], [1, 2, 3, 4])
const small = [1e-6, -2e-6, 3e-6]
const { NaN: nan } = Number

const edges: Readonly<Record<string, Edge>> = {
  'nan-number': constants(
    floats(1, nan, 3),
    floats(1, 2, 3),
    '1 of 3 values are NaN or infinite and differ between the sides',
  ),
  'number-nan': constants(floats(1, 2, 3), floats(1, nan, 3), '1 of 3 values are NaN or infinite'),
  'nan-nan': constants(floats(1, nan, 3), floats(1, nan, 3), null),
  'nan-elsewhere': constants(floats(nan, 2, 3), floats(1, nan, 3), '2 of 3 values are NaN or infinite'),
  'inf-number': constants(floats(1, Infinity), floats(1, 3.4e38), '1 of 2 values are NaN or infinite'),
  'number-inf': constants(floats(1, 3.4e38), floats(1, Infinity), '1 of 2 values are NaN or infinite'),
  'inf-minus-inf': constants(floats(1, Infinity), floats(1, -Infinity), '1 of 2 values are NaN or infinite'),
  'inf-nan': constants(floats(1, Infinity), floats(1, nan), '1 of 2 values are NaN or infinite'),
  'inf-inf': constants(floats(1, -Infinity), floats(1, -Infinity), null),
  'zero-minus-zero': constants(floats(0, 1), floats(-0, 1), null),
  'other-shape': constants(
    tensor('float32', [6, 1], [1, 2, 3, 4, 5, 6]),
    tensor('float32', [1, 6], [1, 2, 3, 4, 5, 6]),
    'shape (1, 6), the reference has (6, 1)',
  ),
  'other-dtype': constants(floats(1, 2), tensor('float64', [2], [1, 2]), 'dtype float64, the reference has float32'),
  'beyond-2-53': constants(
    tensor('int64', [2], [1n, 2n ** 53n + 1n]),
    tensor('int64', [2], [1n, 2n ** 53n]),
    '1 of 2 values differ',
  ),
  'same-beyond-2-53': constants(tensor('int64', [1], [2n ** 53n + 1n]), tensor('int64', [1], [2n ** 53n + 1n]), null),
  'near-zero-1-percent': constants(floats(...small), floats(1e-6, -2e-6, 3.03e-6), '1 of 3 values are over the limit'),
  'near-zero-scalar-1-percent': constants(floats(1e-6), floats(1.01e-6), '1 of 1 values are over the limit'),
  'near-zero-rounded': constants(floats(...small), floats(...small.map((value) => value * (1 + 1e-6))), null),
  'all-zero-1e-6': constants(floats(0, 0), floats(0, 1e-6), '1 of 2 values are over the limit'),
  'argmax-tie': argMax(2, null),
  'argmax-first-for-last': argMax(1, '1 of 1 indices select an earlier one of several equal values', 1n),
  'argmax-last': argMax(2, null, 1n),
  'argmax-other-value': argMax(3, '1 of 1 indices select another value'),
  'argmax-out-of-range': argMax(4, '1 of 1 indices are out of range'),
  'uint8-off-by-one': constants(bytes, tensor('uint8', [4], [1, 2, 3, 5]), '1 of 4 values differ'),
  'quantised-1-of-100-off-by-one': quantised(1, 1, null),
  'quantised-2-of-100-off-by-one': quantised(2, 1, '2 of 100 values differ, 1 may'),
  'quantised-1-of-100-off-by-two': quantised(1, 2, '1 of 100 values are more than 1 off'),
  'bool-flipped': constants(tensor('bool', [2], [1, 0]), tensor('bool', [2], [1, 1]), '1 of 2 values differ'),
}

/** The place of the largest among numbers that both sides are given. */
const placeInInput = () =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 4] }],
    outputs: [{ name: 'best', dtype: 'int64', shape: [1, 1] }],
    nodes: [{ op: 'ArgMax', inputs: ['x'], outputs: ['best'], attributes: { axis: 1n } }],
  })

describe('an index into an input', () => {
  const judged = async (x: readonly number[], target: string, best: number) => {
    const kinds = [plantedKind('other', { output: (_name, given) => withNumbers(given, () => best) })]
    const inputs = [{ match: '**', policies: { x: { value: x } } }]
    return onlyResult(await judgeModels(folderWith({ 'm.onnx': placeInInput() }), { targets: [target], kinds, inputs }))
  }

  test('may differ only where values are equal, for both sides were given the same', async () => {
    expect((await judged([1, 3, 3, 2], 'other:cpu', 2)).verdict).toBe('pass')
    const near = await judged([1, 3, 2.9999, 2], 'other:cpu', 2)
    expect([near.verdict, near.outputs[0]!.rule]).toEqual([
      'fail',
      expect.stringContaining('indices into the input "x"'),
    ])
  })

  test('may select what a declared precision cannot tell apart', async () => {
    expect((await judged([1, 3, 2.9999, 2], 'other:cpu,dtype=bf16', 2)).verdict).toBe('pass')
    expect((await judged([1, 3, 2, 2], 'other:cpu,dtype=bf16', 2)).verdict).toBe('fail')
  })
})

describe('a value at the edge of the rule for it', () => {
  let results: readonly Result[] = []

  beforeAll(async () => {
    const models = Object.entries(edges).map(([name, { model }]) => [`models/${name}.onnx`, model])
    const folder = folderWith(Object.fromEntries(models))
    for (const [name, { target }] of Object.entries(edges)) {
      const place = join(folder, 'stored', name)
      mkdirSync(place, { recursive: true })
      for (const [i, value] of target.entries()) await writeTensorFile(join(place, `output_${i}.pb`), 'y', value)
    }
    const judging = { paths: ['models'], reference: 'ort:cpu', targets: ['stored=recorded:./stored'] }
    results = (await judgeModels(folder, judging)).results
  })

  test.each(Object.keys(edges))('%s', (name) => {
    const { verdict, reason } = results.find(({ model }) => model === name)!
    const { because } = edges[name]!
    if (because === null) expect([verdict, reason]).toEqual(['pass', undefined])
    else expect([verdict, reason]).toEqual(['fail', expect.stringContaining(because)])
  })
})
