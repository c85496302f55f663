import { dtypeKind } from '../../domain/dtype.ts'
import type { TensorSpec } from '../../domain/tensor.ts'
import type { Rule } from '../contract.ts'
import { tableRule } from './tolerances.ts'

/** The rule for tensors with no other rule: floats with whole-model tolerances of their precision, the rest exactly. */
export function defaultRule(_name: string, { dtype }: Pick<TensorSpec, 'dtype'>): Rule {
  const kind = dtypeKind(dtype)
  if (kind === 'complex') return tableRule(dtype === 'complex64' ? 'float32' : 'float64', 'model')
  if (kind !== 'float' || dtype === 'float4e2m1' || dtype === 'float8e8m0') {
    return { kind: 'exact', source: dtype, flags: [] }
  }
  return tableRule(dtype, 'model')
}
