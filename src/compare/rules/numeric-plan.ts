import { type DType, dtypeKind } from '../../domain/dtype.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { valuesPerElement } from '../../tensors/bytes.ts'
import { coarserDType } from '../../tensors/ulp.ts'
import type { Rule } from '../contract.ts'
import type { PairLimits } from '../pairs/pair-statistics.ts'
import { loneRtol } from './tolerances.ts'

export type NumberRule = Exclude<Rule, { kind: 'index' }>

/** How one pair of numeric tensors is judged. */
export interface NumericPlan {
  readonly rule: NumberRule
  /** False for single elements and all-zero references, which have no scale. */
  readonly hasScale: boolean
  readonly maxReference: number
  readonly limits: PairLimits
  /** Fraction of mismatches that is allowed. */
  readonly allowedFraction: number
}

export function planNumbers(
  asked: NumberRule,
  reference: TensorSource,
  target: TensorSource,
  maxReference: number,
): NumericPlan {
  const ulpDType = storageDType(reference.dtype, target.dtype)
  const rule = ulpDType === null && asked.kind === 'float' ? INTEGERS_EXACT : asked
  const hasScale = maxReference > 0 && elementCount(reference.shape) * valuesPerElement(reference.dtype) > 1
  const limits = pairLimits(rule, ulpDType, maxReference, hasScale)
  return { rule, hasScale, maxReference, limits, allowedFraction: allowedFractionOf(rule) }
}

/** Whatever tolerance was asked for, it is not meant for integers. */
const INTEGERS_EXACT: NumberRule = { kind: 'exact', source: 'integers', flags: [] }

/** The dtype whose steps are counted: the coarser of both sides; null for integers. */
function storageDType(reference: DType, target: DType): DType | null {
  const kind = dtypeKind(reference)
  return kind === 'float' || kind === 'complex' ? coarserDType(reference, target) : null
}

function pairLimits(rule: NumberRule, ulpDType: DType | null, maxReference: number, hasScale: boolean): PairLimits {
  if (rule.kind === 'exact') return { rtol: 0, constant: 0, relL2: null, ulps: 0, ulpDType }
  if (rule.kind === 'quantised') {
    // A step of an 8-bit float is an ulp, one of an integer is 1.
    const isFloat = ulpDType !== null
    return { rtol: 0, constant: isFloat ? 0 : rule.steps, relL2: null, ulps: isFloat ? rule.steps : 0, ulpDType }
  }
  const { rtol, scale, atol, floor, rounding, relL2, storageUlps } = rule.tolerance
  return {
    rtol: hasScale ? rtol : loneRtol(rule.tolerance),
    constant: atol + rounding + (hasScale ? scale * maxReference : floor),
    relL2: hasScale ? relL2 : null,
    // Results that differ by next to nothing may be rounded to neighbours when they are stored, and in float16 or less
    // such a step is larger than many a limit.
    ulps: storageUlps,
    ulpDType,
  }
}

function allowedFractionOf(rule: NumberRule): number {
  if (rule.kind === 'exact') return 0
  return rule.kind === 'quantised' ? rule.allowedMismatch : rule.tolerance.allowedMismatch
}
