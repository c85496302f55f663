import { describe, expect, test } from 'vitest'
import type { DType } from '../../domain/dtype.ts'
import type { OutputResult } from '../../domain/result.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { compareTensors } from '../compare-tensors.ts'
import type { Rule } from '../contract.ts'
import { tableRule } from '../rules/tolerances.ts'
import { EXACT, noise } from '../testing/tensors.ts'

const LAYER = tableRule('float32', 'layer')
const FILE = { path: 'trace', start: 8 }

/** A tensor that fails whoever reads it. */
function unreadable(source: TensorSource): TensorSource {
  const fail = (): AsyncIterable<Uint8Array> => {
    throw new Error('it was read')
  }
  return { ...source, chunks: fail }
}

interface Stored {
  readonly dtype?: DType
  readonly shape?: readonly number[]
}

function stored(values: ArrayLike<number>, { dtype = 'float32', shape = [values.length] }: Stored = {}): TensorSource {
  const numbers = Array.from(values)
  const areFinite = numbers.every(Number.isFinite)
  const maxAbs = Math.max(0, ...numbers.filter(Number.isFinite).map(Math.abs).map(Math.fround))
  const zeros = areFinite ? { zeros: numbers.filter((value) => value === 0).length } : {}
  const source = memorySource('y', { dtype, shape, bytes: encodeNumbers(dtype, values) })
  return { ...source, maxAbs, ...zeros, file: FILE }
}

function compare(reference: TensorSource, target: TensorSource, rule: Rule, generated = false): Promise<OutputResult> {
  return compareTensors(reference, target, rule, { generated, targetDType: null })
}

const MANY = noise(5000).map((value, i) => (i % 7 === 0 ? 0 : Math.fround(value * 3)))

describe('a tensor beside itself', () => {
  test.each<[string, TensorSource, Rule]>([
    ['of many numbers', stored(MANY), LAYER],
    ['of few numbers', stored([1, -2, 0, 3]), LAYER],
    ['of one number', stored([2.5]), LAYER],
    ['of zeros', stored([0, -0, 0]), LAYER],
    ['of one zero', stored([0]), LAYER],
    ['of no numbers', stored([]), LAYER],
    ['of tiny numbers', stored([1e-30, 0, -1e-20]), LAYER],
    ['of tiny numbers that are to be exactly equal', stored([1e-45, 0, -1e-40]), EXACT],
    ['of huge numbers', stored([3e38, -1e38]), LAYER],
    ['to be exactly equal', stored(MANY), EXACT],
    ['of more dimensions', stored(MANY, { shape: [5, 10, 100] }), LAYER],
  ])('%s is judged without being read as it is when it is read', async (_, source, rule) => {
    const { file: _elsewhere, ...read } = source
    expect(await compare(unreadable(source), unreadable(source), rule)).toEqual(await compare(read, read, rule))
  })

  const rounding = { ...LAYER, tolerance: { ...tolerance(LAYER), rounding: 1e-6 } } as Rule
  test.each<[string, TensorSource, TensorSource, Rule, boolean]>([
    ['whose limits depend on all its numbers', stored(MANY), stored(MANY), rounding, false],
    ['with steps larger than its limits', half(MANY), half(MANY), LAYER, false],
    ['of subnormal numbers', stored([1e-45, 0, -1e-40]), stored([1e-45, 0, -1e-40]), LAYER, false],
    ['with NaN', stored([1, Number.NaN]), stored([1, Number.NaN]), LAYER, false],
    ['on inputs that were made up', stored(MANY), stored(MANY), LAYER, true],
    ['that is not known', { ...stored(MANY), maxAbs: 1 }, without(stored(MANY)), LAYER, false],
    ['that lies elsewhere', stored(MANY), { ...stored(MANY), file: { ...FILE, start: 9 } }, LAYER, false],
    ['that lies in another file', stored(MANY), { ...stored(MANY), file: { ...FILE, path: 'other' } }, LAYER, false],
  ])('%s is read', async (_, reference, target, rule, generated) => {
    await expect(compare(unreadable(reference), unreadable(target), rule, generated)).rejects.toThrow('it was read')
  })
})

function tolerance(rule: Rule) {
  return rule.kind === 'float' ? rule.tolerance : {}
}

function half(values: ArrayLike<number>): TensorSource {
  return stored(values, { dtype: 'float16' })
}

function without({ file: _file, ...source }: TensorSource): TensorSource {
  return source
}
