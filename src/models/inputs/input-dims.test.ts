import { describe, expect, test } from 'vitest'
import type { ValueSpec } from '../../domain/tensor.ts'
import { bindInputShapes } from './input-dims.ts'

function input(name: string, ...shape: (number | string | null)[]): ValueSpec {
  return { name, kind: 'tensor', dtype: 'float32', shape }
}

function shapeOf(spec: ValueSpec, given: Record<string, number> = {}): readonly number[] | undefined {
  return bindInputShapes([spec], { given }).shapes.get(spec.name)
}

describe('open sizes', () => {
  test.each([
    [input('x', 'batch', 3, 'height', 'width'), [1, 3, 224, 224]],
    [input('x', null, 3, null, null), [1, 3, 224, 224]],
    [input('x', null, null, null, null), [1, 3, 224, 224]],
    [input('x', 'p2o.0', 3, 48, 'p2o.1'), [1, 3, 48, 224]],
    [input('x', 'batch_size', 'sequence_length'), [1, 16]],
    [input('x', null, null, 768), [1, 16, 768]],
    [input('x', 2, null, 128), [2, 1, 128]],
    [input('x', 1, null), [1, 16]],
    [input('x', -1, 80, -1), [1, 80, 16]],
    [input('x', 'batch_size', 'num_samples'), [1, 16_000]],
    [input('x', 'N', 'T'), [1, 100]],
    [input('x', 'batch_size', 'N'), [1, 16]],
    [input('state', 2, 'N', 128), [2, 1, 128]],
    [input('waveforms', 'batch_size', 'N'), [1, 16_000]],
    [input('audio', null, 'sequence'), [1, 16_000]],
    [input('audio_features', 'batch', 80, 'sequence'), [1, 80, 16]],
    [input('x'), []],
  ])('get sizes by name and place: %o', (spec, shape) => {
    expect(shapeOf(spec)).toEqual(shape)
  })

  test('are bound by the user, by name or by place', () => {
    expect(shapeOf(input('x', 'batch', 'seq'), { batch: 4, 'x[1]': 7 })).toEqual([4, 7])
    expect(shapeOf(input('x', null, null), { 'x[1]': 512 })).toEqual([1, 512])
    expect(shapeOf(input('x', 'seq'), { seq: 0 })).toEqual([0])
  })

  test('with the same name are the same in every input', () => {
    const { shapes, dims } = bindInputShapes([input('a', 'rows', 2), input('b', 3, 1, 'rows')], { given: {} })
    expect([...shapes.values()]).toEqual([
      [1, 2],
      [3, 1, 1],
    ])
    expect(dims).toEqual([
      { name: 'rows', size: 1, because: 'the first open axis, assumed to be the batch', free: true },
    ])
  })

  test('that are sums follow their terms', () => {
    const specs = [input('ids', 'batch', 'sequence'), input('mask', 'batch', 'past_length + sequence + 1')]
    expect(bindInputShapes(specs, { given: { sequence: 5 } }).shapes.get('mask')).toEqual([1, 14])
    expect(bindInputShapes(specs, { given: { sequence: 5 }, emptyCaches: true }).shapes.get('mask')).toEqual([1, 6])
    expect(bindInputShapes(specs, { given: { past_length: 2 } }).unused).toEqual([])
  })

  test.each([0, 1, 2])('in total count the cache and the new tokens, wherever they stand (%i)', (turns) => {
    const inputs = [
      input('ids', 'batch', 'sequence_length'),
      input('past', 'batch', 4, 'past_sequence_length', 8),
      input('mask', 'batch', 'total_sequence_length'),
    ]
    const specs = [...inputs.slice(turns), ...inputs.slice(0, turns)]
    expect(bindInputShapes(specs, { given: {} }).shapes.get('mask')).toEqual([1, 24])
    expect(bindInputShapes(specs, { given: { sequence_length: 1 } }).shapes.get('mask')).toEqual([1, 9])
  })

  test('beside a sample rate hold a frame of sound', () => {
    const specs = [input('input', null, null), { ...input('sr'), dtype: 'int64' as const }]
    expect(bindInputShapes(specs, { given: {} }).shapes.get('input')).toEqual([1, 512])
  })

  test('tell where they come from, and which given ones were not needed', () => {
    const { dims, unused } = bindInputShapes([input('x', 'batch', 'seq')], { given: { batch: 2, height: 5 } })
    expect(dims).toEqual([
      { name: 'batch', size: 2, because: 'given', free: false },
      { name: 'seq', size: 16, because: 'by its name, a sequence', free: true },
    ])
    expect(unused).toEqual(['height'])
  })

  test('are taken from the files of other inputs', () => {
    const known = { given: {}, measured: { frames: 55 } }
    const { shapes, dims } = bindInputShapes([input('x', 'batch', 'frames')], known)
    expect(shapes.get('x')).toEqual([1, 55])
    expect(dims[1]).toEqual({ name: 'frames', size: 55, because: 'as in its file', free: false })
  })

  test('that an operator asks for, or that were found by trying, are those; what is given counts more', () => {
    const asked = new Map([
      ['x', { rank: null, sizes: new Map([[-1, { size: 80, because: 'required by MatMul "m"' }]]) }],
    ])
    const bound = (known: object) => bindInputShapes([input('x', 'batch', 'seq')], { given: {}, asked, ...known })
    expect(bound({}).dims[1]).toEqual({ name: 'seq', size: 80, because: 'required by MatMul "m"', free: false })
    expect(bound({ found: { seq: 64 } }).dims[1]).toMatchObject({ size: 64, because: 'found by trying' })
    expect(bound({ found: { seq: 64 }, given: { seq: 7 } }).dims[1]).toMatchObject({ size: 7, because: 'given' })
  })

  test('that are no sizes are refused', () => {
    expect(() => shapeOf(input('x', 'batch'), { batch: -2 })).toThrow('dimension "batch" is given as -2')
    expect(() => shapeOf(input('x', 'batch'), { batch: 1.5 })).toThrow('a whole number')
  })

  test('named like a built-in property are not confused with it', () => {
    expect(shapeOf(input('x', 'constructor', '__proto__'))).toEqual([1, 16])
  })
})
