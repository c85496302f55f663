import { describe, expect, test } from 'vitest'
import { tensor } from '../../../test/small-models.ts'
import type { Result } from '../../domain/result.ts'
import { buildModel, type GraphParts, type NodeParts } from '../../onnx/builder.ts'
import type { RunOutcome } from '../../runs/execute.ts'
import { type Fault, hasOp, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, verdicts } from '../testing/judge.ts'

/** x · w → + b → · 0.25, with Softmax along two axes at the end. */
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
const BOTH: Judging = { scopes: ['full', 'layers'], shapes: [{ match: '**', dims: { n: [4] } }] }
const ONLY: Judging = { ...BOTH, scopes: ['layers'] }
const FAULTY = 'faulty=ort:cpu,model=other/faulty.onnx'

const judged = (judging: Judging, model = chain(), more: Record<string, Uint8Array> = {}) =>
  judgeModels(folderWith({ 'm.onnx': model, ...more }), { paths: ['m.onnx'], ...judging })

const withFault = (fault: Fault, judging: Judging = BOTH) =>
  judged({ ...judging, targets: ['faulty:cpu'], kinds: [plantedKind('faulty', fault)] })

const withFaultyModel = (judging: Judging) =>
  judged({ targets: [FAULTY], ...judging }, chain(), { 'other/faulty.onnx': chain([1, 2.5, 3]) })

function resultOf({ results }: RunOutcome, scope: string): Result {
  const found = results.find((result) => result.scope === scope)
  if (!found) throw new Error(`no result of ${scope}`)
  return found
}

describe('the layers of a model', () => {
  test('are judged one by one, each on what the reference computed before it', async () => {
    const outcome = await judged(ONLY)
    expect(verdicts(outcome)).toEqual(LAYERS.map((scope) => `pass ${scope}`))
    const scaling = resultOf(outcome, 'layer_Mul_scaling')
    expect(scaling.measurements).toMatchObject({
      op: 'Mul',
      'input.sum': 'float32 (4, 3), as the reference computed it',
      'reference.values': 'from the full run',
    })
    expect(scaling.outputs[0]).toMatchObject({ name: 'scaled', rule: expect.stringContaining('single layer') })
    expect(scaling.part).toEqual({ of: 'm/full_model@ort:cpu,optimization=disabled', op: 'Mul', place: 2 })
  })

  test('follow their whole, and a fault is found in one of them and nowhere else', async () => {
    const outcome = await withFaultyModel(BOTH)
    expect(verdicts(outcome)).toEqual([
      'fail full_model',
      'pass layer_MatMul_product',
      'fail layer_Add_sum',
      'pass layer_Mul_scaling',
      'pass layer_Softmax_soft0',
      'pass layer_Softmax_soft1',
    ])
    const { artifacts, worst, outputs } = resultOf(outcome, 'layer_Add_sum')
    const files = ['layer.onnx', 'inputs.safetensors', 'reference.safetensors', 'target.safetensors']
    expect(artifacts.map(({ name }) => name)).toEqual(files)
    expect(worst[0]).toMatchObject({ tensor: 'sum', error: expect.closeTo(0.5, 5) })
    expect(worst[0]!.index[1]).toBe(1)
    expect(outputs[0]!.mismatches).toMatchObject({ count: 4, of: 12 })
  })

  test('with ops that belong together are one', async () => {
    const outcome = await withFaultyModel({ ...ONLY, layerGroups: [['MatMul', 'Add']] })
    expect(verdicts(outcome)).toEqual([
      'fail layer_MatMul+Add_product',
      ...LAYERS.slice(2).map((scope) => `pass ${scope}`),
    ])
    expect(outcome.results[0]!.outputs.map(({ name }) => name)).toEqual(['sum'])
  })

  test('that cannot be compiled are errors, and what was to be compiled is kept', async () => {
    const refuse: Fault = {
      open: (model) => {
        if (hasOp(model, 'Mul') && !hasOp(model, 'MatMul')) throw new Error('no Mul here')
      },
    }
    const outcome = await withFault(refuse, ONLY)
    expect(verdicts(outcome).filter((verdict) => !verdict.startsWith('pass'))).toEqual(['error layer_Mul_scaling'])
    const { error, artifacts } = resultOf(outcome, 'layer_Mul_scaling')
    expect(error).toEqual({ stage: 'compile', side: 'target', message: 'faulty:cpu: no Mul here' })
    expect(artifacts.map(({ name }) => name)).toEqual(['layer.onnx', 'inputs.safetensors'])
  })

  test('are skipped against a reference that runs another model', async () => {
    const sides = { reference: FAULTY, targets: ['ort:cpu'] }
    const { results } = await withFaultyModel({ ...ONLY, ...sides })
    expect(new Set(results.map(({ verdict, reason }) => `${verdict} ${reason}`))).toEqual(
      new Set(['skip the reference runs a model of its own, and these are the layers of another']),
    )
  })

  test('that the model of the target does not have are skipped', async () => {
    const other = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 2] }],
      outputs: [{ name: 'xw', dtype: 'float32' }],
      initializers: { a_weight: tensor('float32', [2, 3], [1, 2, 3, 4, 5, 6]) },
      nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'a_weight'], outputs: ['xw'] }],
    })
    const outcome = await judged({ ...ONLY, targets: [FAULTY] }, chain(), { 'other/faulty.onnx': other })
    expect(verdicts(outcome)).toEqual([`pass ${LAYERS[0]}`, ...LAYERS.slice(1).map((scope) => `skip ${scope}`)])
    expect(outcome.results[1]!.reason).toBe('other/faulty.onnx has no layer of this name')
  })

  test('that give something else in the model of the target are skipped, with what they give', async () => {
    const model = (output: string) =>
      buildModel({
        inputs: [{ name: 'x', dtype: 'float32', shape: [2] }],
        outputs: [{ name: output, dtype: 'float32' }],
        nodes: [{ op: 'Neg', name: 'turn', inputs: ['x'], outputs: [output] }],
      })
    const { results } = await judged({ scopes: ['layers'], targets: [FAULTY] }, model('y'), {
      'other/faulty.onnx': model('z'),
    })
    expect(results).toMatchObject([{ verdict: 'skip', reason: 'the layer of this name in other/faulty.onnx gives z' }])
  })

  test('that give another shape in the model of the target fail and say so, whatever was recorded', async () => {
    const reshaping = (shape: readonly bigint[]) =>
      buildModel({
        inputs: [{ name: 'x', dtype: 'float32', shape: [2, 3] }],
        outputs: [{ name: 'y', dtype: 'float32' }],
        initializers: { shape: tensor('int64', [2], shape) },
        nodes: [{ op: 'Reshape', inputs: ['x', 'shape'], outputs: ['y'] }],
      })
    const files = { 'other/faulty.onnx': reshaping([6n, 1n]) }
    const { results } = await judged({ scopes: ['layers'], targets: [FAULTY] }, reshaping([3n, 2n]), files)
    expect(results).toMatchObject([{ verdict: 'fail', reason: expect.stringContaining('(6, 1)') }])
  })

  test('are unstable where what ran before changes their numbers', async () => {
    const spoilt: Fault = {
      capabilities: { sharedMemory: true },
      output: (_name, given, { opened }) => (opened < 3 ? given : withNumbers(given, (value) => value + 1)),
    }
    const { results } = await withFault(spoilt, ONLY)
    const flags = results.map(({ verdict, flags }) => [verdict, ...flags].join(' '))
    expect(flags).toEqual(['pass', 'pass', 'fail unstable', 'fail unstable', 'fail unstable'])
  })
})

describe('a whole model that does not pass', () => {
  test('is told where to look', async () => {
    const { results } = await withFaultyModel(BOTH)
    expect(results[0]!.reason).toMatch(/; look at layer_Add_sum, which does not pass alone$/)
  })

  test('is told how many layers are wrong, and which is the first', async () => {
    const all: Fault = { output: (_name, given) => withNumbers(given, (value) => value + 1) }
    const { results } = await withFault(all)
    expect(results[0]!.reason).toMatch(/; look at layer_MatMul_product, the first of 5 that do not pass alone$/)
  })

  test('is suspected of fusion where every layer is right alone', async () => {
    const fusing: Fault = {
      output: (_name, given, { model }) => ('path' in model ? withNumbers(given, (value) => 1.01 * value) : given),
    }
    const { results } = await withFault(fusing)
    expect(results[0]!.reason).toMatch(
      /; every one of the 5 layers that it runs passes alone: suspect fusion or accumulation$/,
    )
    const some = await withFault(fusing, { ...BOTH, run: { select: { keyword: 'full_model or Mul' } } })
    expect(some.results.map(({ verdict }) => verdict)).toEqual(['fail', 'pass', 'pass'])
    expect(some.results[0]!.reason).not.toContain('layer')
  })
})

/** Four times the same Relu, then one on another shape. */
function relus(): Uint8Array {
  const names = ['a', 'b', 'c', 'd']
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [2, 3] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: { shape: tensor('int64', [1], [6n]) },
    nodes: [
      ...names.map((name, i) => ({ op: 'Relu', name, inputs: [i === 0 ? 'x' : `v${i - 1}`], outputs: [`v${i}`] })),
      { op: 'Reshape', name: 'flat', inputs: ['v3', 'shape'], outputs: ['r'] },
      { op: 'Relu', name: 'e', inputs: ['r'], outputs: ['y'] },
    ],
  })
}

describe('layers that compute the same', () => {
  const select: Judging = { scopes: ['layers'], run: { select: { keyword: 'Relu' } } }
  const target = 'ort:cpu,optimization=disabled'

  test('share one session, each on its own inputs', async () => {
    const { results } = await judged(select, relus())
    expect(results.map(({ verdict, sameAs }) => [verdict, sameAs])).toEqual(Array(5).fill(['pass', undefined]))
    const compiled = results.map(({ steps }) => steps.some(({ title }) => title === `compile on ${target}`))
    expect(compiled).toEqual([true, false, false, false, true])
  })

  test('are judged once on random inputs', async () => {
    const { results } = await judged({ ...select, layerInputs: 'random' }, relus())
    const first = `m/layer_Relu_a@${target}`
    expect(results.map(({ sameAs }) => sameAs)).toEqual([undefined, first, first, first, undefined])
    expect(results.map(({ verdict }) => verdict)).toEqual(Array(5).fill('pass'))
    expect(results[1]).toMatchObject({
      measurements: { 'input.x': 'float32 (2, 3), random' },
      reproduce: `assay test -k 'm/layer_Relu_b@${target}'`,
    })
  })

  test('on random inputs are skipped where the model of the target takes others', async () => {
    const model = (second: string) =>
      buildModel({
        inputs: ['x', 'z'].map((name) => ({ name, dtype: 'float32' as const, shape: [2, 20] })),
        outputs: [{ name: 'y', dtype: 'float32' }],
        nodes: [{ op: 'Add', name: 'sum', inputs: ['x', second], outputs: ['y'] }],
      })
    const judging: Judging = { scopes: ['layers'], layerInputs: 'random', targets: [FAULTY] }
    const { results } = await judged(judging, model('z'), { 'other/faulty.onnx': model('x') })
    expect(results).toMatchObject([
      { verdict: 'skip', reason: 'the layer of this name in the other model takes other inputs' },
    ])
  })
})

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
    expect(titles.filter((title) => title.includes('conditions'))).toEqual(['look inside on ort:cpu: conditions 1'])
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
    expect(outcome.results[1]!.reason).toBe('"seq" at its border is no tensor, and workers give nothing else')
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
      /^because the model as it is does not run on the reference/,
    )
  })

  test('are not trusted where looking inside changes the answer', async () => {
    const shy: Fault = {
      output: (_name, given, { model }) => ('path' in model ? withNumbers(given, (value) => 2 * value) : given),
    }
    const { results } = await judged({
      ...ONLY,
      reference: 'shy:cpu',
      targets: ['ort:cpu'],
      kinds: [plantedKind('shy', shy)],
    })
    expect(results.map(({ verdict }) => verdict)).toEqual(Array(5).fill('pass'))
    expect(results[0]!.measurements['both sides alone']).toMatch(
      /^because looking inside changes the reference's answer: soft0: /,
    )
  })
})

test('a dimension that is bound twice makes two cases of every layer', async () => {
  const outcome = await judged({ ...ONLY, shapes: [{ match: '**', dims: { n: [4, 7] } }] })
  expect(verdicts(outcome)).toEqual([4, 7].flatMap((n) => LAYERS.map((scope) => `pass ${scope}[n=${n}]`)))
  const product = resultOf(outcome, 'layer_MatMul_product[n=7]')
  expect(product.measurements['input.x']).toBe('float32 (7, 2), as the reference computed it')
})

test('what was computed inside is found again by a later run', async () => {
  const folder = folderWith({ 'm.onnx': chain() })
  const made = async () => {
    const { results } = await judgeModels(folder, BOTH)
    const steps = results.flatMap((result) => result.steps.filter(({ key, cached }) => key !== null && !cached))
    return steps.map(({ title }) => title)
  }
  const first = await made()
  expect(first).toContain('look inside on ort:cpu: values 1')
  expect(await made()).toEqual([])
})
