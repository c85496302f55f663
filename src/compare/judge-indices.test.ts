import { describe, expect, test } from 'vitest'
import type { DType } from '../domain/dtype.ts'
import type { OutputResult, WorstPlace } from '../domain/result.ts'
import type { TensorSource } from '../domain/tensor.ts'
import { encodeBigInts, encodeNumbers } from '../tensors/encode.ts'
import { memorySource } from '../tensors/memory-source.ts'
import { compareTensors } from './compare-tensors.ts'
import type { IndexSelection } from './contract.ts'
import { toleranceFor } from './rules/tolerances.ts'

function tensor(dtype: DType, shape: number[], values: number[]): TensorSource {
  return memorySource('y', { dtype, shape, bytes: encodeNumbers(dtype, values) })
}

interface Given {
  op?: IndexSelection['op']
  last?: boolean
  axis?: number
  indexed?: TensorSource
  shape?: number[]
}

function compare(reference: number[], target: number[], given: Given): Promise<OutputResult> {
  const { op = 'ArgMax', axis = -1, indexed, shape = [reference.length], last = false } = given
  const selection = { op, axis, tensor: 'x', keepDims: false, last }
  const rule = { kind: 'index', selection, tolerance: toleranceFor('float32', 'model'), source: 'ArgMax' } as const
  const context = { generated: false, targetDType: null, indexed }
  return compareTensors(tensor('int64', shape, reference), tensor('int64', shape, target), rule, context)
}

const SCORES = tensor('float32', [2, 3], [1, 5, 5, 7, 2, 6.9999])

describe('indices', () => {
  test('a tie may be broken either way', async () => {
    const result = await compare([1, 0], [2, 2], { indexed: SCORES })
    expect(result).toMatchObject({ verdict: 'pass', mismatches: { count: 0, of: 2, allowed: 0 } })
    expect(result.metrics.find(({ name }) => name === 'index_different')?.value).toBe(2)
    expect(result.rule).toBe('ArgMax: the values that ArgMax selects in "x", |t−r| ≤ 1e-3·|r| + 1e-4·max|r|')
  })

  test('of equal values the last counts where it is asked for, and near ones stay near', async () => {
    const result = await compare([2, 0], [1, 0], { indexed: SCORES, last: true })
    expect(result).toMatchObject({ verdict: 'fail', mismatches: { count: 1, of: 2 } })
    expect(result.reason).toBe(
      '1 of 2 indices select an earlier one of several equal values, expected the last (select_last_index)',
    )
    expect(result.rule).toContain('selects in "x" (the last of equal ones), |t−r|')
    expect(result.worst).toMatchObject([{ reference: '2 (selects 5)', target: '1 (selects 5)', error: 1 }])
    expect((await compare([2, 0], [2, 2], { indexed: SCORES, last: true })).verdict).toBe('pass')
    const nan = tensor('float32', [2], [Number.NaN, Number.NaN])
    expect((await compare([1], [0], { indexed: nan, last: true })).verdict).toBe('pass')
  })

  test('an index that selects another value fails and shows both values', async () => {
    const result = await compare([1, 0], [1, 1], { indexed: SCORES })
    const worst: WorstPlace[] = [...result.worst]
    expect(result).toMatchObject({ verdict: 'fail', reason: '1 of 2 indices select another value' })
    expect(worst[0]).toMatchObject({ index: [1], reference: '0 (selects 7)', target: '1 (selects 2)', error: 5 })
  })

  test('an index out of range fails, negative ones too', async () => {
    expect((await compare([1, 0], [1, 3], { indexed: SCORES })).reason).toContain('1 of 2 indices are out of range')
    expect((await compare([1, 0], [-2, 0], { indexed: SCORES })).verdict).toBe('fail')
  })

  test('the axis counts', async () => {
    const columns = { indexed: SCORES, axis: 0 }
    expect((await compare([1, 0, 1], [1, 0, 1], columns)).verdict).toBe('pass')
    expect((await compare([1, 0, 1], [0, 0, 1], columns)).verdict).toBe('fail')
    expect((await compare([1, 0, 1], [0, 0, 1], { ...columns, axis: -2 })).verdict).toBe('fail')
  })

  test('a negative axis counts from the end', async () => {
    const indexed = tensor('float32', [2, 2], [5, 1, 5, 2])
    expect((await compare([0, 1], [1, 1], { indexed, axis: -2 })).verdict).toBe('pass')
    expect((await compare([0, 1], [0, 0], { indexed, axis: -2 })).verdict).toBe('fail')
    expect((await compare([0, 0], [1, 0], { indexed, axis: -1 })).verdict).toBe('fail')
  })

  test('without the indexed tensor, or with one that does not fit, they are exact and flagged', async () => {
    const missing = await compare([1, 0], [2, 0], {})
    expect(missing).toMatchObject({
      verdict: 'fail',
      flags: ['indices-exact'],
      rule: 'indices of ArgMax: exactly equal',
    })
    expect((await compare([1, 0, 0], [2, 0, 0], { indexed: SCORES })).flags).toEqual(['indices-exact'])
    expect(await compare([1, 0], [1, 0], {})).toMatchObject({ verdict: 'pass', flags: ['indices-exact'] })
    expect((await compare([1, 0], [2, 0], { indexed: { ...SCORES, byteLength: 2 ** 29 } })).flags).toEqual([
      'indices-exact',
    ])
  })

  test('TopK may swap equal values and may not select one twice', async () => {
    const topK = { op: 'TopK', indexed: SCORES, shape: [2, 2] } as const
    const reference = [1, 2, 0, 2]
    expect((await compare(reference, [2, 1, 2, 0], { ...topK, shape: [2, 2] })).verdict).toBe('pass')
    const twice = await compare(reference, [1, 1, 0, 2], { ...topK, shape: [2, 2] })
    expect(twice).toMatchObject({ verdict: 'fail', reason: '1 of 4 indices select a place twice' })
    expect((await compare(reference, [1, 0, 0, 2], { ...topK, shape: [2, 2] })).verdict).toBe('fail')
  })

  test('TopK along another axis than the last', async () => {
    const indexed = tensor('float32', [3, 2], [1, 9, 3, 8, 3, 7])
    const topK = { op: 'TopK', indexed, axis: 0, shape: [2, 2] } as const
    expect((await compare([1, 0, 2, 1], [2, 0, 1, 1], { ...topK, shape: [2, 2] })).verdict).toBe('pass')
    expect((await compare([1, 0, 2, 1], [1, 0, 2, 2], { ...topK, shape: [2, 2] })).verdict).toBe('fail')
    expect((await compare([1, 0, 2, 1], [1, 0, 1, 1], { ...topK, shape: [2, 2] })).reason).toContain('twice')
  })

  test('NonMaxSuppression: batch and class exactly, boxes by their scores', async () => {
    const indexed = tensor('float32', [1, 2, 3], [0.9, 0.9, 0.1, 0.5, 0.4, 0.9])
    const rows = { op: 'NonMaxSuppression', indexed, shape: [2, 3] } as const
    const reference = [0, 0, 0, 0, 1, 2]
    const verdict = async (target: number[]) => (await compare(reference, target, { ...rows, shape: [2, 3] })).verdict
    expect(await verdict([0, 0, 1, 0, 1, 2])).toBe('pass')
    expect(await verdict([0, 0, 2, 0, 1, 2])).toBe('fail')
    expect(await verdict([0, 1, 2, 0, 1, 2])).toBe('fail')
    expect(await verdict([0, 0, 0, 1, 1, 2])).toBe('fail')
    expect(await verdict([0, 0, 0, 0, 1, 3])).toBe('fail')
  })

  test('NaN is another value than a number, and the same as NaN', async () => {
    const indexed = tensor('float32', [4], [1, Number.NaN, 2, Number.NaN])
    expect((await compare([1], [3], { indexed, shape: [] })).verdict).toBe('pass')
    expect((await compare([1], [2], { indexed, shape: [] })).verdict).toBe('fail')
    expect((await compare([2], [1], { indexed, shape: [] })).verdict).toBe('fail')
  })

  test('indexed integers must be equal, beyond 2^53 too', async () => {
    const bytes = encodeBigInts('int64', [9007199254740993n, 9007199254740992n, 9007199254740993n])
    const indexed = memorySource('x', { dtype: 'int64', shape: [3], bytes })
    expect((await compare([0], [2], { indexed, shape: [] })).verdict).toBe('pass')
    expect((await compare([0], [1], { indexed, shape: [] })).verdict).toBe('fail')
  })

  test('no indices at all pass', async () => {
    const indexed = tensor('float32', [0, 3], [])
    expect((await compare([], [], { indexed, shape: [0] })).verdict).toBe('pass')
  })
})
