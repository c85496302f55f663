import { describe, expect, test } from 'vitest'
import { tensor } from '../../../../test/support/small-models.ts'
import type { Result } from '../../../domain/result.ts'
import { buildModel, type NodeParts } from '../../../onnx/builder.ts'
import type { RunOutcome } from '../../../runs/execute/execute.ts'
import { type Fault, hasOp, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, verdicts } from '../../testing/judge.ts'

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
      capabilities: { islands: false },
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
      new Set(['skip the reference runs a different model, which does not have these layers']),
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
    expect(outcome.results[1]!.reason).toBe('other/faulty.onnx has no layer with this name')
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
    expect(results).toMatchObject([
      { verdict: 'skip', reason: 'the layer with this name in other/faulty.onnx outputs z' },
    ])
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
    const unstable = 'fail over-tolerance unstable'
    expect(flags).toEqual(['pass', 'pass', unstable, unstable, unstable])
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
    const target = 'single:cpu'
    const single = plantedKind('single', { capabilities: { islands: false } })
    const { results } = await judged({ ...select, targets: [target], kinds: [single] }, relus())
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
      reproduce: `assay test -k m/layer_Relu_b@${target}`,
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
      { verdict: 'skip', reason: 'the layer with this name in the other model takes different inputs' },
    ])
  })
})

test('a dimension that is bound twice makes two cases of every layer', async () => {
  const outcome = await judged({ ...ONLY, shapes: [{ match: '**', dims: { n: [4, 7] } }] })
  expect(verdicts(outcome)).toEqual([4, 7].flatMap((n) => LAYERS.map((scope) => `pass ${scope}[n=${n}]`)))
  const product = resultOf(outcome, 'layer_MatMul_product[n=7]')
  expect(product.measurements['input.x']).toBe('float32 (7, 2), as the reference computed it')
})

describe('a later run', () => {
  const VALUES = 'look inside the model on ort:cpu: values 1'
  /** What runs of the same models compute, one after the other. */
  async function madeBy(more: Judging, runs: number): Promise<string[][]> {
    const folder = folderWith({ 'm.onnx': chain() })
    const made: string[][] = []
    for (let i = 0; i < runs; i++) {
      const { results } = await judgeModels(folder, { ...BOTH, reference: 'ort:cpu', ...more })
      const steps = results.flatMap((result) => result.steps.filter(({ stage, cached }) => stage === 'run' && !cached))
      made.push(steps.map(({ title }) => title))
    }
    return made
  }

  test('finds again what both sides computed inside', async () => {
    const [first, second] = await madeBy({}, 2)
    expect(first).toEqual(expect.arrayContaining([VALUES, expect.stringMatching(/^run \d+ layers side by side/)]))
    expect(second).toEqual([])
  })

  test('finds it from a target whose sessions are expensive too', async () => {
    const slow = plantedKind('slow', { capabilities: { cheap: false } })
    const targets = ['slow:cpu,optimization=disabled']
    const [first, second] = await madeBy({ reference: 'slow:cpu', targets, kinds: [slow] }, 2)
    expect(first).toContain('look inside the model on slow:cpu: values 1')
    expect(second).toEqual([])
  })

  test('computes again what is so large that reading it costs as much', async () => {
    const [, second] = await madeBy({ shapes: [{ match: '**', dims: { n: [600_000] } }] }, 2)
    expect(second).toEqual(expect.arrayContaining([VALUES, expect.stringMatching(/^run \d+ layers side by side/)]))
  })
})
