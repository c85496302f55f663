import { describe, expect, test } from 'vitest'
import { tensor } from '../../../../test/support/small-models.ts'
import { buildModel, type GraphParts, type NodeParts } from '../../../onnx/builder.ts'
import { type Fault, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, verdicts } from '../../testing/judge.ts'

const judged = (judging: Judging, model: Uint8Array) => judgeModels(folderWith({ 'm.onnx': model }), judging)

describe('layers inside of others', () => {
  const branch = (op: string) => ({ nodes: [{ op, inputs: ['x'], outputs: ['t'] }], outputs: [{ name: 't' }] })
  const choosing = () =>
    buildModel({
      inputs: [
        { name: 'x', dtype: 'float32', shape: [2] },
        { name: 'c', dtype: 'bool', shape: [] },
      ],
      outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
      nodes: [
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['y'],
          attributes: { then_branch: branch('Abs'), else_branch: branch('Neg') },
        },
      ],
    })

  test.each([
    [1, ['pass layer_Abs_then_branch.t', 'skip layer_Neg_else_branch.t']],
    [0, ['skip layer_Abs_then_branch.t', 'pass layer_Neg_else_branch.t']],
  ])('of an If whose condition is %d are judged in the branch that is taken', async (c, expected) => {
    const inputs = [{ match: '**', policies: { c: { value: c } } }]
    const outcome = await judged({ scopes: ['layers'], inputs }, choosing())
    expect(verdicts(outcome)).toEqual(expected)
    expect(outcome.results.find(({ verdict }) => verdict === 'skip')).toMatchObject({ flags: ['not-reached'] })
  })

  test('of a condition that the model computes are found by running it that far', async () => {
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [2] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
      initializers: { zero: tensor('float32', [], [0]) },
      nodes: [
        { op: 'ReduceSum', inputs: ['x'], outputs: ['sum'], attributes: { keepdims: 0n } },
        { op: 'Greater', inputs: ['sum', 'zero'], outputs: ['c'] },
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['y'],
          attributes: { then_branch: branch('Abs'), else_branch: branch('Neg') },
        },
      ],
    })
    const inputs = [{ match: '**', policies: { x: { value: [1, 2] } } }]
    const outcome = await judged({ scopes: ['layers'], inputs }, model)
    expect(verdicts(outcome)).toEqual([
      'pass layer_ReduceSum_sum',
      'pass layer_Greater_c',
      'pass layer_Abs_then_branch.t',
      'skip layer_Neg_else_branch.t',
    ])
    const titles = outcome.results.flatMap(({ steps }) => steps.map(({ title }) => title))
    expect(titles.filter((title) => title.includes('conditions'))).toEqual([
      'look inside the model on ort:cpu: conditions 1',
    ])
  })

  test('of a loop are judged with it', async () => {
    const body: GraphParts = {
      inputs: [
        { name: 'i', dtype: 'int64', shape: [] },
        { name: 'go', dtype: 'bool', shape: [] },
        { name: 'v', dtype: 'float32', shape: [2] },
      ],
      nodes: [
        { op: 'Add', inputs: ['v', 'x'], outputs: ['sum'] },
        { op: 'Identity', inputs: ['go'], outputs: ['on'] },
      ],
      outputs: [
        { name: 'on', dtype: 'bool', shape: [] },
        { name: 'sum', dtype: 'float32', shape: [2] },
      ],
    }
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [2] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
      initializers: { times: tensor('int64', [], [3n]), yes: tensor('bool', [], [1]) },
      nodes: [{ op: 'Loop', name: 'thrice', inputs: ['times', 'yes', 'x'], outputs: ['y'], attributes: { body } }],
    })
    const outcome = await judged({ scopes: ['full', 'layers'] }, model)
    expect(verdicts(outcome)).toEqual([
      'pass full_model',
      'pass layer_Loop_thrice',
      'skip layer_Add_sum',
      'skip layer_Identity_on',
    ])
    expect(outcome.results[2]).toMatchObject({
      reason: 'it is in the body of Loop "thrice", which is judged as a whole',
      flags: ['not-reached'],
    })
  })
})

describe('values at the border of a layer', () => {
  test('that are no tensors leave it out, and the others are judged', async () => {
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [2] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
      initializers: { zero: tensor('int64', [], [0n]) },
      nodes: [
        { op: 'Neg', inputs: ['x'], outputs: ['n'] },
        { op: 'SequenceConstruct', inputs: ['n', 'x'], outputs: ['seq'] },
        { op: 'SequenceAt', inputs: ['seq', 'zero'], outputs: ['first'] },
        { op: 'Abs', inputs: ['first'], outputs: ['y'] },
      ],
    })
    const outcome = await judged({ scopes: ['layers'] }, model)
    expect(verdicts(outcome)).toEqual([
      'pass layer_Neg_n',
      'skip layer_SequenceConstruct_seq',
      'skip layer_SequenceAt_first',
      'pass layer_Abs_y',
    ])
    expect(outcome.results[1]!.reason).toBe('"seq" at its border is not a tensor, and workers return only tensors')
  })

  test('that no worker gives travel as float32', async () => {
    const cast = (to: number, input: string, output: string): NodeParts => {
      return { op: 'Cast', name: `to_${output}`, inputs: [input], outputs: [output], attributes: { to: BigInt(to) } }
    }
    const model = buildModel({
      opset: 21,
      inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
      nodes: [cast(16, 'x', 'short'), cast(1, 'short', 'y')],
    })
    const outcome = await judged({ scopes: ['layers'] }, model)
    expect(verdicts(outcome)).toEqual(['pass layer_Cast_to_short', 'pass layer_Cast_to_y'])
    expect(outcome.results[0]!.outputs[0]).toMatchObject({ name: 'short#float32', dtype: 'float32' })
    expect(outcome.results[1]!.measurements['input.short#float32']).toMatch(/^float32 \(4\), as the reference/)
  })

  test('are not trusted where the model as it is does not run: both sides compute alone', async () => {
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [3] }],
      outputs: [{ name: 'b', dtype: 'float32' }],
      nodes: [
        { op: 'Neg', name: 'twin', inputs: ['x'], outputs: ['a'] },
        { op: 'Exp', name: 'twin', inputs: ['a'], outputs: ['b'] },
      ],
    })
    const outcome = await judged({ scopes: ['full', 'layers'] }, model)
    expect(verdicts(outcome)).toEqual(['error full_model', 'pass layer_Neg_a', 'pass layer_Exp_b'])
    expect(outcome.results[1]!.measurements['both sides alone']).toMatch(
      /^because the unmodified model does not run on the reference/,
    )
  })

  test('are not trusted where looking inside changes the answer', async () => {
    const shy: Fault = {
      output: (_name, given, { model }) => ('path' in model ? withNumbers(given, (value) => 2 * value) : given),
    }
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [3] }],
      outputs: [{ name: 'b', dtype: 'float32' }],
      nodes: [
        { op: 'Neg', inputs: ['x'], outputs: ['a'] },
        { op: 'Exp', inputs: ['a'], outputs: ['b'] },
      ],
    })
    const sides = { reference: 'shy:cpu', targets: ['ort:cpu'], kinds: [plantedKind('shy', shy)] }
    const { results } = await judged({ scopes: ['layers'], ...sides }, model)
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass'])
    expect(results[0]!.measurements['both sides alone']).toMatch(
      /^because looking inside changes the reference's answer: b: /,
    )
  })
})
