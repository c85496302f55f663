import { toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { tensor } from '../../../test/support/small-models.ts'
import type { Tensor } from '../../domain/tensor.ts'
import { buildModel, type NodeParts } from '../../onnx/builder.ts'
import { TensorProtoSchema } from '../../onnx/generated/onnx-ml_pb.ts'
import { tensorToProto } from '../../onnx/tensors/tensor-proto.ts'
import { hasOp, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, judgeModels, onlyResult } from '../testing/judge.ts'

const floats = (...values: number[]) => tensor('float32', [values.length], values)
const X = floats(1, 2, 3)
const file = (value: Tensor) => toBinary(TensorProtoSchema, tensorToProto('', value))
const sized = (name: string) => ({ name, dtype: 'float32', shape: [3] }) as const

/** y is the input plus noise, z the input's negative. */
const NOISY: readonly NodeParts[] = [
  { op: 'RandomNormalLike', name: 'noise', inputs: ['x'], outputs: ['n'], attributes: { seed: 1 } },
  { op: 'Add', inputs: ['x', 'n'], outputs: ['y'] },
  { op: 'Neg', inputs: ['x'], outputs: ['z'] },
]

async function judgeRecorded(model: Uint8Array, inputs: readonly Tensor[], outputs: readonly Tensor[]) {
  const files = (prefix: string, values: readonly Tensor[]) =>
    values.map((value, i) => [`m/test_data_set_0/${prefix}_${i}.pb`, file(value)] as const)
  const data = Object.fromEntries([...files('input', inputs), ...files('output', outputs)])
  return onlyResult(await judgeModels(folderWith({ 'm/model.onnx': model, ...data })))
}

describe('random ops', () => {
  const noisy = buildModel({ inputs: [sized('x')], outputs: [sized('y'), sized('z')], nodes: NOISY })

  test('against recorded outputs are inconclusive, and the node is named', async () => {
    const result = await judgeRecorded(noisy, [X], [X, floats(-1, -2, -3)])
    expect(result.verdict).toBe('inconclusive')
    expect(result.reason).toMatch(
      /^y: random: RandomNormalLike "noise" generates these values, .* 3 of 3 values are over/,
    )
    expect(result.flags).toContain('random')
    expect(result.outputs.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual(['y inconclusive', 'z pass'])
  })

  test('excuse no fault in what they do not reach, nor another shape', async () => {
    const fault = await judgeRecorded(noisy, [X], [X, floats(-1, -2, -4)])
    expect([fault.verdict, fault.reason]).toEqual(['fail', expect.stringContaining('z: 1 of 3 values are over')])
    const shape = await judgeRecorded(noisy, [X], [floats(1, 2), floats(-1, -2, -3)])
    expect([shape.verdict, shape.reason]).toEqual([
      'fail',
      expect.stringContaining('y: shape (3), the reference has (2)'),
    ])
  })

  test('are judged as layers too: only the one that draws is inconclusive', async () => {
    const wrong = plantedKind('other', {
      // What is wrong depends on the session.
      capabilities: { islands: false },
      output: (name, given, { model }) =>
        name === 'z' || hasOp(model, 'Neg') ? given : withNumbers(given, (number) => number + 1),
    })
    const folder = folderWith({ 'm.onnx': noisy })
    const { results } = await judgeModels(folder, {
      targets: ['other:cpu'],
      kinds: [wrong],
      scopes: ['full', 'layers'],
    })
    expect(results.map(({ scope, verdict }) => `${scope} ${verdict}`)).toEqual([
      'full_model inconclusive',
      'layer_RandomNormalLike_noise inconclusive',
      'layer_Add_y fail',
      'layer_Neg_z pass',
    ])
  })
})

describe('a Dropout', () => {
  const single = (name: string, dtype: 'float32' | 'bool') => ({ name, dtype, shape: [] })
  const model = buildModel({
    inputs: [sized('x'), single('ratio', 'float32'), single('training', 'bool')],
    outputs: [sized('y')],
    nodes: [{ op: 'Dropout', name: 'drop', inputs: ['x', 'ratio', 'training'], outputs: ['y'] }],
  })
  const judged = (ratio: number, training: number, y: Tensor) =>
    judgeRecorded(model, [X, tensor('float32', [], [ratio]), tensor('bool', [], [training])], [y])

  test('is random in training, and nowhere else', async () => {
    const random = await judged(0.5, 1, floats(9, 9, 9))
    expect([random.verdict, random.reason]).toEqual(['inconclusive', expect.stringContaining('Dropout "drop"')])
    expect((await judged(0, 1, floats(9, 9, 9))).verdict).toBe('fail')
    expect((await judged(0.5, 0, floats(9, 9, 9))).verdict).toBe('fail')
    expect((await judged(0.5, 0, X)).verdict).toBe('pass')
  })
})
