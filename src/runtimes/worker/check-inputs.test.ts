import { describe, expect, test } from 'vitest'
import type { TensorSource, Trace, ValueSpec } from '../../domain/tensor.ts'
import { checkInputs } from './check-inputs.ts'

const SPECS: readonly ValueSpec[] = [
  { name: 'x', kind: 'tensor', dtype: 'float32', shape: ['batch', 2] },
  { name: 'more', kind: 'optional', dtype: null, shape: null },
  { name: 'mask', kind: 'tensor', dtype: 'int64', shape: ['batch'], optional: true },
]

function given(name: string, dtype: TensorSource['dtype'], shape: readonly number[]): Trace {
  const source: TensorSource = { name, dtype, shape, byteLength: 0, async *chunks() {} }
  return { values: [{ name, kind: 'tensor', length: 1 }], tensors: new Map([[name, source]]) }
}

function merged(a: Trace, b: Trace): Trace {
  return { values: [...a.values, ...b.values], tensors: new Map([...a.tensors, ...b.tensors]) }
}

describe('inputs of a session', () => {
  test('those that fit are taken; an optional value, or an input that may be left out, may be missing', () => {
    expect(() => checkInputs(SPECS, given('x', 'float32', [7, 2]))).not.toThrow()
  })

  test.each<[string, Trace]>([
    ['there is no input "y"; the model takes "x", "more", "mask"', given('y', 'float32', [1, 2])],
    ['input "x" has dtype float64, expected float32', given('x', 'float64', [1, 2])],
    ['input "x" has shape (1, 3), expected (batch, 2)', given('x', 'float32', [1, 3])],
    ['input "x" has shape (2), expected (batch, 2)', given('x', 'float32', [2])],
    [
      'input "mask" has dtype float32, expected int64',
      merged(given('x', 'float32', [1, 2]), given('mask', 'float32', [1])),
    ],
    ['input "x" is missing', { values: [], tensors: new Map() }],
    [
      'input "x" is a sequence, expected a tensor',
      { values: [{ name: 'x', kind: 'sequence', length: 0 }], tensors: new Map() },
    ],
    ['input "x" has no data', { ...given('x', 'float32', [1, 2]), tensors: new Map() }],
  ])('%s', (message, inputs) => {
    expect(() => checkInputs(SPECS, inputs)).toThrow(message)
  })
})
