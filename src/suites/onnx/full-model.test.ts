import { describe, expect, test } from 'vitest'
import { affineModel, tensor } from '../../../test/support/small-models.ts'
import { DTYPES } from '../../domain/dtype.ts'
import type { Tensor } from '../../domain/tensor.ts'
import { buildModel } from '../../onnx/builder.ts'
import { asDType, type Fault, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, onlyResult } from '../testing/judge.ts'

/** a = 2x + 1 and b = relu(x), each over (2, 3) floats. */
const twoOutputs = () =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [2, 3] }],
    outputs: [
      { name: 'a', dtype: 'float32', shape: [2, 3] },
      { name: 'b', dtype: 'float32', shape: [2, 3] },
    ],
    initializers: { two: tensor('float32', [1], [2]), one: tensor('float32', [1], [1]) },
    nodes: [
      { op: 'Mul', inputs: ['x', 'two'], outputs: ['scaled'] },
      { op: 'Add', inputs: ['scaled', 'one'], outputs: ['a'] },
      { op: 'Relu', inputs: ['x'], outputs: ['b'] },
    ],
  })

const GIVEN: Judging = { inputs: [{ match: '**', policies: { x: { value: [-1, 2, -3, 4, -5, 6] } } }] }

/** The same model on the real runtime and on one with a fault. */
async function judged(fault: Fault, more: Judging = {}, model = twoOutputs()) {
  const judging = { ...GIVEN, targets: ['faulty:cpu'], kinds: [plantedKind('faulty', fault)], ...more }
  return onlyResult(await judgeModels(folderWith({ 'm.onnx': model }), judging))
}

const onlyA = (change: (tensor: Tensor) => Tensor | null): Fault => ({
  output: (name, given) => (name === 'a' ? change(given) : given),
})

const element4 = (change: (value: number) => number) =>
  onlyA((given) => withNumbers(given, (value, place) => (place === 4 ? change(value) : value)))

describe('a whole model', () => {
  test('passes where both sides agree, and leaves nothing behind', async () => {
    const { id, verdict, coverage, outputs, artifacts, measurements, reproduce } = await judged({})
    expect([id, verdict, coverage]).toEqual(['m/full_model@faulty:cpu', 'pass', { compared: 2, expected: 2 }])
    expect(outputs.map(({ name, verdict }) => `${verdict} ${name}`)).toEqual(['pass a', 'pass b'])
    expect(artifacts).toEqual([])
    expect(measurements['input.x']).toBe('float32 (2, 3), given value')
    expect(measurements['target.library']).toMatch(/^onnxruntime-node \d/)
    expect(reproduce).toBe('assay test -k m/full_model@faulty:cpu')
  })

  test('keeps its tensors where that was asked for', async () => {
    const { artifacts } = await judged({}, { run: { keep: true } })
    const traces = ['inputs.safetensors', 'reference.safetensors', 'target.safetensors']
    expect(artifacts.map(({ name }) => name)).toEqual(expect.arrayContaining(traces))
  })

  test('with one value off fails in that output, at that place, by that much', async () => {
    const { verdict, outputs, worst, metrics, artifacts, band } = await judged(element4((value) => 1.5 * value))
    expect([verdict, ...outputs.map(({ name, verdict }) => `${verdict} ${name}`)]).toEqual(['fail', 'fail a', 'pass b'])
    expect(worst[0]).toMatchObject({ tensor: 'a', index: [1, 1], reference: '-9', target: '-13.5', error: 4.5 })
    expect(metrics.find(({ name }) => name === 'max_abs')).toMatchObject({ value: 4.5, direction: 'lower' })
    expect(outputs[0]!.mismatches).toEqual({ count: 1, of: 6, allowed: 0 })
    expect(artifacts.map(({ name }) => name)).toEqual([
      'inputs.safetensors',
      'reference.safetensors',
      'target.safetensors',
    ])
    expect(band?.map(({ output, margin }) => [output, margin])).toEqual([
      ['a', 1],
      ['b', 1],
    ])
  })

  const faults: readonly (readonly [string, Fault, string])[] = [
    ['NaN', element4(() => Number.NaN), 'a: 1 of 6 values are NaN or infinite and differ between the sides'],
    ['an infinity', element4(() => Infinity), 'a: 1 of 6 values are NaN or infinite and differ between the sides'],
    ['a scaled output', onlyA((given) => withNumbers(given, (value) => 1.001 * value)), 'relL2 1e-3 is over 1e-4'],
    ['another shape', onlyA((given) => ({ ...given, shape: [3, 2] })), 'shape (3, 2), the reference has (2, 3)'],
    ['another dtype', onlyA((given) => asDType(given, 'float64')), 'dtype float64, the reference has float32'],
    ['nothing for an output', onlyA(() => null), 'a: the target does not give this output'],
    ['zeros', onlyA((given) => withNumbers(given, () => 0)), 'a: 6 of 6 values are over the limit'],
  ]
  test.each(faults)('with %s fails in that output', async (_what, fault, because) => {
    const { verdict, reason, outputs } = await judged(fault)
    expect([verdict, ...outputs.map(({ name, verdict }) => `${verdict} ${name}`)]).toEqual(['fail', 'fail a', 'pass b'])
    expect(reason).toContain(because)
  })

  test('whose outputs are swapped fails in both', async () => {
    const { verdict, outputs } = await judged({ names: { a: 'b', b: 'a' } })
    expect([verdict, outputs.map(({ verdict }) => verdict)]).toEqual(['fail', ['fail', 'fail']])
  })

  test('is inconclusive where made-up inputs lead to the same number everywhere', async () => {
    const { verdict, flags, reason } = await judged({}, { inputs: [] }, affineModel(0))
    expect([verdict, flags]).toEqual(['inconclusive', ['degenerate']])
    expect(reason).toContain('all 6 elements are the same on both sides, which proves nothing')
  })

  test('is judged on such numbers where somebody gave the inputs', async () => {
    expect((await judged({}, {}, affineModel(0))).verdict).toBe('pass')
  })

  test('that agrees although the device warned proves nothing', async () => {
    const { verdict, flags, reason, measurements } = await judged({ warnings: ['kernel refused'] })
    expect([verdict, flags]).toEqual(['inconclusive', ['warned']])
    expect(reason).toBe("the numbers agree; the target's device warned: kernel refused")
    expect(measurements['target.warnings']).toBe('kernel refused')
  })

  test('that differs and whose device warned fails, with both reasons', async () => {
    const { verdict, reason } = await judged({ ...element4(() => 0), warnings: ['kernel refused'] })
    expect(verdict).toBe('fail')
    expect(reason).toMatch(/^a: 1 of 6 values are over.*; the target's device warned: kernel refused$/)
  })
})

describe('a side that refuses', () => {
  const refuse = (text: string) => () => {
    throw new Error(text)
  }
  const cases: readonly (readonly [string, Fault, string, string])[] = [
    ['the model', { open: refuse('no kernel for Mul') }, 'compile', 'faulty:cpu: no kernel for Mul'],
    ['to run', { run: refuse('out of memory') }, 'run', 'faulty:cpu: out of memory'],
    ['to be here', { absent: 'no driver' }, 'discover', 'faulty:cpu is not available: no driver'],
  ]
  test.each(cases)('%s is an error of the target', async (_what, fault, stage, message) => {
    const { verdict, error } = await judged(fault)
    expect([verdict, error]).toEqual(['error', { stage, side: 'target', message }])
  })

  test.each(cases)('%s is an error of the reference where it is one', async (_what, fault, stage, message) => {
    const { verdict, error } = await judged(fault, { reference: 'faulty:cpu', targets: ['ort:cpu'] })
    expect([verdict, error]).toEqual(['error', { stage, side: 'reference', message }])
  })

  test('is the reference where both do', async () => {
    const kinds = ['one', 'two'].map((name) => plantedKind(name, { open: refuse(`${name} cannot`) }))
    const { error } = await judged({}, { reference: 'one:cpu', targets: ['two:cpu'], kinds })
    expect(error).toEqual({ stage: 'compile', side: 'reference', message: 'one:cpu: one cannot' })
  })

  test('to be here is skipped where nobody named the targets', async () => {
    const { verdict, reason } = await judged({ absent: 'no driver' }, { areDefaults: true })
    expect([verdict, reason]).toEqual(['skip', 'faulty:cpu is not available: no driver'])
  })

  test('an element type is skipped, as nothing can be said', async () => {
    const { verdict, reason } = await judged({ capabilities: { dtypes: ['int8'] } })
    expect(verdict).toBe('skip')
    expect(reason).toContain('faulty:cpu')
  })
})

describe('a target whose sessions share memory', () => {
  const spoilt: Fault = {
    capabilities: { sharedMemory: true },
    output: (_name, given, { opened }) => (opened === 1 ? given : withNumbers(given, (value) => value + 1)),
  }

  test('is unstable where it passes alone', async () => {
    const folder = folderWith({ 'a.onnx': affineModel(), 'b.onnx': affineModel(3) })
    const judging = { ...GIVEN, targets: ['faulty:cpu'], kinds: [plantedKind('faulty', spoilt)] }
    const { results } = await judgeModels(folder, judging)
    expect(results.map(({ verdict, flags }) => [verdict, flags])).toEqual([
      ['pass', []],
      ['fail', ['over-tolerance', 'unstable']],
    ])
    expect(results[1]!.reason).toContain('passes alone in a fresh worker')
  })

  test('fails like any other where it is wrong alone too', async () => {
    const folder = folderWith({ 'a.onnx': affineModel(), 'b.onnx': affineModel(3) })
    const always: Fault = { ...spoilt, output: (_name, given) => withNumbers(given, (value) => value + 1) }
    const judging = { ...GIVEN, targets: ['faulty:cpu'], kinds: [plantedKind('faulty', always)] }
    const { results } = await judgeModels(folder, judging)
    expect(results.map(({ verdict, flags }) => [verdict, flags])).toEqual([
      ['fail', ['over-tolerance']],
      ['fail', ['over-tolerance']],
    ])
  })
})

test('a target whose sessions share memory and that refuses to run alone fails like any other', async () => {
  let opened = 0
  const refusing: Fault = {
    capabilities: { sharedMemory: true },
    open: () => {
      if (++opened === 3) throw new Error('not again')
    },
    output: (_name, given, { opened: inWorker }) => (inWorker === 1 ? given : withNumbers(given, (value) => value + 1)),
  }
  const folder = folderWith({ 'a.onnx': affineModel(), 'b.onnx': affineModel(3) })
  const judging = { ...GIVEN, targets: ['faulty:cpu'], kinds: [plantedKind('faulty', refusing)] }
  const { results } = await judgeModels(folder, judging)
  expect(results.map(({ verdict, flags }) => [verdict, flags])).toEqual([
    ['pass', []],
    ['fail', ['over-tolerance']],
  ])
  expect(opened).toBe(3)
})

describe('a target that runs another model', () => {
  /** The affine model with a number rounded to fewer bits on its way. */
  const rounded = (to: 'bfloat16' | 'float16') => {
    const cast = (input: string, output: string, dtype: 'bfloat16' | 'float16' | 'float32') => ({
      op: 'Cast',
      inputs: [input],
      outputs: [output],
      attributes: { to: BigInt(DTYPES[dtype].onnx) },
    })
    return affineModel(2, {
      nodes: [
        { op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
        cast('scaled', 'short', to),
        cast('short', 'back', 'float32'),
        { op: 'Add', inputs: ['back', 'one'], outputs: ['y'] },
      ],
    })
  }
  const files = {
    'm.onnx': affineModel(),
    'other/same.onnx': affineModel(2),
    'other/off.onnx': affineModel(2.002),
    'other/bf16.onnx': rounded('bfloat16'),
    'other/fp16.onnx': rounded('float16'),
    'other/broken.onnx': 'this is no model',
  }
  const against = async (target: string, more: Judging = {}) =>
    onlyResult(await judgeModels(folderWith(files), { paths: ['m.onnx'], targets: [target], ...more }))

  test('passes where that computes the same', async () => {
    expect((await against('ort:cpu,model=other/same.onnx')).verdict).toBe('pass')
  })

  test.each(['bf16', 'fp16'])('in %s is judged by the precision of the reference, and fails', async (name) => {
    const { verdict, outputs, reason } = await against(`ort:cpu,model=other/${name}.onnx`)
    expect([verdict, outputs[0]!.rule]).toEqual(['fail', expect.stringContaining('float32 whole model')])
    const own = { bf16: 'bfloat16', fp16: 'float16' }[name]
    expect(reason).toContain(`the target's model computes in ${own}: if that is intended, set dtype=${own}`)
  })

  test('passes by its own precision once that is declared', async () => {
    const { verdict, outputs } = await against('ort:cpu,model=other/bf16.onnx,dtype=bf16')
    expect([verdict, outputs[0]!.rule]).toEqual(['pass', expect.stringContaining('bfloat16 whole model')])
  })

  test('of an unknown precision is refused', async () => {
    const { verdict, error } = await against('ort:cpu,model=other/bf16.onnx,dtype=bf61')
    expect([verdict, error?.message]).toEqual(['error', expect.stringContaining('found "bf61"')])
  })

  test('that cannot be read is an error of the target', async () => {
    const { verdict, error } = await against('ort:cpu,model=other/broken.onnx')
    expect([verdict, error?.stage, error?.side]).toEqual(['error', 'import', 'target'])
  })

  const OFF = 'off=ort:cpu,model=other/off.onnx'
  const rules: readonly (readonly [string, Judging['tolerances'], string])[] = [
    ['none', [], 'fail'],
    ['one for all', [{ rtol: 0.01, source: 'test' }], 'pass'],
    ['one for its id', [{ rtol: 0.01, match: 'm/*@off', source: 'test' }], 'pass'],
    ['one for another id', [{ rtol: 0.01, match: 'n/*', source: 'test' }], 'fail'],
    ['one for its output', [{ rtol: 0.01, output: 'y*', source: 'test' }], 'pass'],
    ['one for another output', [{ rtol: 0.01, output: 'z', source: 'test' }], 'fail'],
    ['one for its op', [{ rtol: 0.01, op: 'Add', source: 'test' }], 'pass'],
    ['one for another op', [{ rtol: 0.01, op: 'Mul', source: 'test' }], 'fail'],
    ['one for its dtype', [{ rtol: 0.01, dtype: 'float32', source: 'test' }], 'pass'],
    ['one for another dtype', [{ rtol: 0.01, dtype: 'float16', source: 'test' }], 'fail'],
    [
      'a later one that is narrower',
      [
        { rtol: 0.01, source: 'a' },
        { rtol: 1e-6, source: 'b' },
      ],
      'fail',
    ],
  ]
  test.each(rules)('a little off, with a rule of limits, %s: %j %s', async (_what, tolerances, verdict) => {
    const result = await against(OFF, { tolerances: tolerances! })
    expect(result.verdict).toBe(verdict)
    if (verdict === 'pass') expect(result.outputs[0]!.rule).toBe('test: |t−r| ≤ 0.01·|r| + 1e-9')
  })
})

test('a file that is no model is an error of the reference', async () => {
  const { verdict, error } = onlyResult(await judgeModels(folderWith({ 'm.onnx': 'this is no model' })))
  expect([verdict, error?.stage, error?.side]).toEqual(['error', 'import', 'reference'])
})

describe('a small number out of a Sigmoid, which is computed around 1,', () => {
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    nodes: [
      { op: 'Sigmoid', inputs: ['x'], outputs: ['s'] },
      { op: 'Squeeze', inputs: ['s'], outputs: ['y'] },
    ],
  })
  const offBy = (distance: number, more: Judging = {}) => {
    const inputs = [{ match: '**', policies: { x: { value: -10.3 } } }]
    return judged({ output: (_, given) => withNumbers(given, (value) => value + distance) }, { inputs, ...more }, model)
  }

  test('may be off by roundings there: nobody can tell whether that is a fault', async () => {
    const { verdict, flags, band } = await offBy(2.98e-8)
    expect([verdict, flags]).toEqual(['inconclusive', ['over-tolerance', 'sensitive']])
    expect(band![0]!.by).toBe('roundings around 1 in its Sigmoid')
  })

  test('fails where it is off by more', async () => {
    expect(await offBy(1e-6)).toMatchObject({ verdict: 'fail' })
  })
})
