import type { DType } from '../../domain/dtype.ts'
import type { OutputResult } from '../../domain/result.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { encodeBigInts, encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { compareTensors } from '../compare-tensors.ts'
import type { Rule } from '../contract.ts'
import { tableRule } from '../rules/tolerances.ts'

export const MODEL = tableRule('float32', 'model')
export const EXACT: Rule = { kind: 'exact', source: 'exact', flags: [] }

export function tensor(
  dtype: DType,
  values: ArrayLike<number>,
  shape: readonly number[] = [values.length],
  chunkBytes?: number,
): TensorSource {
  return memorySource('y', { dtype, shape, bytes: encodeNumbers(dtype, values) }, chunkBytes)
}

export function integers(values: bigint[], dtype: DType = 'int64'): TensorSource {
  return memorySource('y', { dtype, shape: [values.length], bytes: encodeBigInts(dtype, values) })
}

export function compare(
  r: TensorSource,
  t: TensorSource,
  rule: Rule = MODEL,
  generated = false,
): Promise<OutputResult> {
  return compareTensors(r, t, rule, { generated, targetDType: null })
}

export function metric(result: OutputResult, name: string): number | null | undefined {
  return result.metrics.find((m) => m.name === name)?.value
}

/** Deterministic numbers in −1 … 1. */
export function noise(count: number, seed = 1): Float64Array {
  let state = seed
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 31 - 1) * 0.999
  })
}
