import { describe, expect, test } from 'vitest'
import type { Target } from '../../domain/target.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { boundOutputs, checkOutput, checkRawShapes, knownShapes } from './output-shapes.ts'

const value = (name: string, shape: (number | string | null)[] | null, dtype: 'float32' | null = 'float32') =>
  ({ name, kind: 'tensor', dtype, shape }) as const
const floats = (...shape: number[]) => ({ dtype: 'float32', shape, bytes: new Uint8Array(0) }) as const
const target = (options = {}): Target => ({ name: 't', runtime: 'toolchain', version: null, device: 'x', options })

describe('shapes of outputs', () => {
  test('dimensions that inputs have are known from them', () => {
    const model = {
      inputs: [value('x', ['batch', 3])],
      outputs: [value('y', ['batch', 4]), value('z', ['other', null])],
    }
    const bound = boundOutputs(model, memoryTrace(new Map([['x', floats(2, 3)]])))
    expect(bound.map(({ shape }) => shape)).toEqual([
      [2, 4],
      ['other', null],
    ])
    expect([...knownShapes(bound)]).toEqual([['y', [2, 4]]])
  })

  test.each([
    ['a name that no input has', value('y', ['other'])],
    ['no size', value('y', [null])],
    ['no shape', value('y', null)],
    ['no dtype', value('y', [1], null)],
  ])('raw files are refused at compile where an output has %s', (_, output) => {
    const refused = () => checkRawShapes({ inputs: [value('x', ['batch'])], outputs: [output] })
    expect(refused).toThrow(/raw files need it, so use tensors: 'npy'/)
  })

  test('an output that contradicts the model is refused, another precision only where none is declared', () => {
    const check = (shape: (number | string)[], found: number[], dtype: 'float32' | 'float16' | 'int32', options = {}) =>
      checkOutput(value('y', shape), memorySource('y', { ...floats(...found), dtype }), target(options))
    check(['batch', 3], [2, 3], 'float32')
    check([3], [3], 'float16', { dtype: 'fp16' })
    expect(() => check([2, 3], [3, 2], 'float32')).toThrow('has shape (3, 2), the model declares (2, 3)')
    expect(() => check([3], [1, 3], 'float32')).toThrow('has shape (1, 3), the model declares (3)')
    expect(() => check([3], [3], 'float16')).toThrow('is float16, the model declares float32; if another')
    expect(() => check([3], [3], 'int32', { dtype: 'fp16' })).toThrow('is int32, the model declares float32')
  })
})
