import { expect, test } from 'vitest'
import { LayerMeter } from '../../../compare/layers/layer-meter.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { type StepTensor, withMetrics } from '../measured-layer.ts'
import { checkLayer, isEmpty } from './check-layer.ts'
import { limitsOfBaseline, limitsOfFile } from './layer-limits.ts'

function layer(reference: readonly number[], target: readonly number[], rowLength: number | null = 2): StepTensor {
  const meter = new LayerMeter({ reference: 'float64', target: 'float64' }, rowLength)
  const stretch = (numbers: readonly number[]) => ({ bytes: encodeNumbers('float64', numbers), first: 0 })
  meter.add(stretch(reference), stretch(target), reference.length)
  const spec = { name: 'layer', dtype: 'float64', shape: [reference.length / 2, 2] } as const
  return { name: 'layer', step: 0, reference: spec, target: spec, sums: meter.sums }
}

const REFERENCE = [1, 2, 3, -4]
const offBy = (error: number) => REFERENCE.map((value, i) => value + (i === 0 ? error : 0))
const measure = (one: StepTensor) => withMetrics([one])[0]!
const baseline = limitsOfBaseline('bf16', withMetrics([layer(REFERENCE, offBy(0.1))]))

test('up to the margin a layer is within, beyond it is over', () => {
  const kindAt = (error: number, margin: number) =>
    checkLayer(measure(layer(REFERENCE, offBy(error))), baseline, margin).kind
  expect(kindAt(0.1, 1)).toBe('within')
  expect(kindAt(0.13, 1)).toBe('over')
  expect(kindAt(0.13, 2)).toBe('within')
  expect(kindAt(0.21, 2)).toBe('over')
})

test('of a similarity, what it lacks to 1 grows with the square of the error', () => {
  const limits = limitsOfFile('f.json', {
    layers: [
      {
        name: 'layer',
        shape: null,
        metrics: { row_cosine: { direction: 'higher', value: 0.99, statistic: 'p1', count: 3 } },
      },
    ],
  })
  const standing = checkLayer(measure(layer([1, 0], [1, 1])), limits, 2)
  expect(standing).toMatchObject({ kind: 'over', why: 'row_cosine 0.7071 < 0.96' })
  expect('checks' in standing && standing.checks[0]?.ratio).toBeCloseTo(Math.sqrt((1 - Math.SQRT1_2) / 0.01), 9)
})

test('NaN and infinities on one side alone are over, with or without a limit', () => {
  const none = limitsOfFile('f.json', { layers: [] })
  for (const wrong of [Number.NaN, Infinity]) {
    const standing = checkLayer(measure(layer(REFERENCE, [1, 2, 3, wrong])), none, 2)
    expect(standing).toMatchObject({ kind: 'over', why: '1 values are not finite on one side alone' })
  }
})

test('a target that gives zeros is over, although it has no cosines', () => {
  const standing = checkLayer(measure(layer(REFERENCE, [0, 0, 0, 0])), baseline, 2)
  expect(standing).toMatchObject({ kind: 'over', why: expect.stringMatching(/^rel_l2 1 > /) })
})

test('rows that are zero on both sides are no error', () => {
  const zeros = limitsOfBaseline('bf16', withMetrics([layer([0, 0, 0, 0], [0, 0, 0, 0])]))
  expect(checkLayer(measure(layer([0, 0, 0, 0], [0, 0, 0, 0])), zeros, 2).kind).toBe('within')
  expect(checkLayer(measure(layer([0, 0, 0, 0], [0, 0, 0, 1])), zeros, 2).kind).toBe('over')
})

test('an infinite error of the baseline cannot become a limit', () => {
  const limits = limitsOfBaseline('bf16', withMetrics([layer([0, 0], [0, 1])]))
  expect(checkLayer(measure(layer([0, 0], [0, 1])), limits, 2).kind).toBe('unlimited')
})

test('where the baseline gives the very same numbers, a rounding of float32 is no error', () => {
  const exact = limitsOfBaseline('fp64', withMetrics([layer(REFERENCE, REFERENCE)]))
  expect(checkLayer(measure(layer(REFERENCE, offBy(1e-7))), exact, 2).kind).toBe('within')
  expect(checkLayer(measure(layer(REFERENCE, offBy(1e-4))), exact, 2).kind).toBe('over')
})

test('what one rounding to the dtype of the target may be off is no error', () => {
  const exact = limitsOfBaseline('fp32', withMetrics([layer(REFERENCE, REFERENCE)]))
  const kindAt = (dtype: 'bfloat16' | 'float16', error: number) => {
    const found = layer(
      REFERENCE,
      REFERENCE.map((value) => value * (1 + error)),
    )
    return checkLayer(measure({ ...found, target: { ...found.target!, dtype } }), exact, 2).kind
  }
  expect([kindAt('bfloat16', 0.0038), kindAt('bfloat16', 0.004)]).toEqual(['within', 'over'])
  expect([kindAt('float16', 0.00048), kindAt('float16', 0.0005)]).toEqual(['within', 'over'])
})

test('another shape or name has no limit; a layer of one side is not measured', () => {
  expect(checkLayer(measure(layer([...REFERENCE, 1, 1], [...REFERENCE, 1, 1])), baseline, 2)).toEqual({
    kind: 'unlimited',
    why: 'no limit for this layer of shape (3, 2)',
  })
  const { sums: _, ...lone } = layer(REFERENCE, REFERENCE)
  const problem = 'only the reference computes it'
  const standing = checkLayer(measure({ ...lone, target: null, sums: null, problem }), baseline, 2)
  expect(standing).toEqual({ kind: 'unmeasured', why: problem })
})

test('another shape on the target is over', () => {
  const { sums: _, ...unlike } = layer(REFERENCE, REFERENCE)
  const target = { ...unlike.target!, shape: [4] }
  const standing = checkLayer(measure({ ...unlike, target, sums: null, problem: 'the shapes differ' }), baseline, 2)
  expect(standing).toMatchObject({
    kind: 'over',
    why: 'the shapes differ: (2, 2) on the reference, (4) on the target',
  })
})

test('an empty tensor has nothing to be judged', () => {
  expect(isEmpty(measure(layer([], [])))).toBe(true)
  expect(isEmpty(measure(layer(REFERENCE, REFERENCE)))).toBe(false)
})

test('limits of a baseline are the worst hundredth over all steps of the same shape', () => {
  const steps = [0.1, 0.2].map((error, step) => ({ ...layer(REFERENCE, offBy(error)), step }))
  const limit = limitsOfBaseline('bf16', withMetrics(steps)).find('layer', [2, 2])!.metrics.rel_l2!
  expect(limit).toMatchObject({ direction: 'lower', statistic: 'p99', count: 2 })
  const [first, second] = withMetrics(steps).map(({ metrics }) => metrics.find(({ name }) => name === 'rel_l2')!.value!)
  expect(limit.value).toBeCloseTo(first! + 0.99 * (second! - first!), 12)
})
