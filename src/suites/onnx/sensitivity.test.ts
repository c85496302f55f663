import { describe, expect, test } from 'vitest'
import { affineModel, tensor } from '../../../test/support/small-models.ts'
import { buildModel } from '../../onnx/builder.ts'
import { type Fault, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, onlyResult } from '../testing/judge.ts'

/** y = 1,000,000 · (x − 1): near x = 1 one rounding of x moves y by 0.12. */
const steep = () =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
    initializers: { one: tensor('float32', [], [1]), million: tensor('float32', [], [1e6]) },
    nodes: [
      { op: 'Sub', inputs: ['x', 'one'], outputs: ['rest'] },
      { op: 'Mul', inputs: ['rest', 'million'], outputs: ['y'] },
    ],
  })

/** y = x through integers whose scale is found while it runs. */
const quantising = () =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [8] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [8] }],
    nodes: [
      { op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['q', 'scale', 'zero'] },
      { op: 'DequantizeLinear', inputs: ['q', 'scale', 'zero'], outputs: ['y'] },
    ],
  })

const x = [1.000001, 1.000002, 1.000003, 1.000004]
const NEAR_ONE: Judging = { inputs: [{ match: '**', policies: { x: { value: x } } }] }

const judged = async (model: Uint8Array, fault: Fault, more: Judging = {}) => {
  const kinds = [plantedKind('faulty', fault)]
  return onlyResult(await judgeModels(folderWith({ 'm.onnx': model }), { targets: ['faulty:cpu'], kinds, ...more }))
}

/** Less than a rounding of x does. */
const near: Fault = { output: (_name, given) => withNumbers(given, (value) => value + 0.05) }

describe('a model whose reference is moved by roundings', () => {
  test('as far as the target lies is inconclusive, and says by what it was moved', async () => {
    const { verdict, flags, reason, band } = await judged(steep(), near, NEAR_ONE)
    expect([verdict, flags]).toEqual(['inconclusive', ['over-tolerance', 'sensitive']])
    expect(reason).toMatch(/^over tolerance, but rounding errors move the reference as far: y: /)
    // Two options of the reference and four disturbed inputs.
    expect(band).toMatchObject([{ output: 'y', by: 'inputs moved by 1.2e-7', samples: 6, margin: 1 }])
    expect(band![0]!.maxAbs).toBeCloseTo(1e6 * 2 ** -23, 2)
  })

  test('by less than the target lies away fails', async () => {
    const further: Fault = { output: (_name, given) => withNumbers(given, (value) => value - 3) }
    const { verdict, flags, band } = await judged(steep(), further, NEAR_ONE)
    expect([verdict, flags]).toEqual(['fail', ['over-tolerance']])
    expect(band).toHaveLength(1)
  })

  test('and whose layers all pass alone, passes', async () => {
    const whole: Fault = {
      output: (_name, given, { model }) => ('path' in model ? near.output!(_name, given, { model, opened: 1 }) : given),
    }
    const kinds = [plantedKind('faulty', whole)]
    const judging: Judging = { ...NEAR_ONE, scopes: ['full', 'layers'], targets: ['faulty:cpu'], kinds }
    const { results } = await judgeModels(folderWith({ 'm.onnx': steep() }), judging)
    expect(results.map(({ verdict, flags }) => [verdict, flags])).toEqual([
      ['pass', ['over-tolerance', 'sensitive']],
      ['pass', []],
      ['pass', []],
    ])
    expect(results[0]!.reason).toMatch(/; but every one of the 2 layers that it runs passes alone$/)
  })
})

test('integers whose scale is found while it runs are nudged too, and the next draw may lie further', async () => {
  const other: Fault = { output: (_name, given) => withNumbers(given, (value) => value + 10) }
  const { verdict, band } = await judged(quantising(), other)
  expect(verdict).toBe('fail')
  expect(band).toMatchObject([{ output: 'y', samples: 18, margin: 1.5 }])
})

test('disturbances that the reference refuses are said, and excuse less', async () => {
  const picky: Fault = {
    open: (_model, { target }) => {
      if (target.options.threads === '2') throw new Error('one thread only')
    },
  }
  const off: Fault = { output: (_name, given) => withNumbers(given, (value) => value + 1) }
  const kinds = [plantedKind('picky', picky), plantedKind('faulty', off)]
  const sides = { reference: 'picky:cpu', targets: ['faulty:cpu'], kinds }
  const result = onlyResult(await judgeModels(folderWith({ 'm.onnx': affineModel() }), sides))
  expect(result.verdict).toBe('fail')
  expect(result.band).toMatchObject([{ samples: 5 }])
  expect(result.measurements['sensitivity.not_measured']).toBe('threads=2: picky:cpu: one thread only')
})

test('a band is measured once for all targets that need it', async () => {
  const kinds = ['one', 'two'].map((name) =>
    plantedKind(name, { output: (_output, given) => withNumbers(given, (value) => value + 1) }),
  )
  const { results } = await judgeModels(folderWith({ 'm.onnx': affineModel() }), {
    targets: ['one:cpu', 'two:cpu'],
    kinds,
  })
  const measured = results.map(({ steps }) => steps.filter(({ title }) => title.startsWith('sensitivity: ')).length)
  expect(measured).toEqual([6, 0])
  expect(results[1]!.band).toEqual(results[0]!.band)
})
