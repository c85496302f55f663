import { type DType, dtypeKind } from '../domain/dtype.ts'
import { StageError, UsageError } from '../domain/errors.ts'
import type { OutputResult } from '../domain/result.ts'
import { countBytes, formatShape, type TensorSource } from '../domain/tensor.ts'
import type { Side } from '../domain/verdict.ts'
import type { Rule, TensorContext } from './contract.ts'
import { judgeIndices } from './judge-indices.ts'
import { judgeNumbers } from './judge-numbers.ts'
import { judgeStrings } from './judge-strings.ts'
import { checkTolerance } from './rules/tolerances.ts'

/** Judges one tensor of the target against the reference's: shape and dtype first, then the values by the rule. */
export async function compareTensors(
  reference: TensorSource,
  target: TensorSource,
  rule: Rule,
  context: TensorContext,
): Promise<OutputResult> {
  checkRule(rule)
  checkByteLength(reference, 'reference')
  checkByteLength(target, 'target')
  const difference = describeMismatch(reference, target, context.targetDType)
  if (difference) return { ...unlike(reference, difference.reason), flags: difference.flags }
  if (reference.dtype === 'string') return judgeStrings(reference, target)
  if (rule.kind === 'index') return judgeIndices(reference, target, rule, context)
  return judgeNumbers(reference, target, rule, context)
}

/** An output that failed before its values were compared, for example because its shape differs. */
export function unlike(reference: Pick<TensorSource, 'name'> & Partial<TensorSource>, reason: string): OutputResult {
  return {
    name: reference.name,
    dtype: reference.dtype ?? null,
    shape: reference.shape ?? null,
    verdict: 'fail',
    rule: 'same outputs, shapes and dtypes',
    reason,
    flags: [],
    metrics: [],
    mismatches: null,
    worst: [],
  }
}

function checkRule(rule: Rule): void {
  if (rule.kind === 'float' || rule.kind === 'index') checkTolerance(rule.tolerance)
  if (rule.kind === 'quantised') checkQuantised(rule.steps, rule.allowedMismatch)
}

function checkQuantised(steps: number, allowedMismatch: number): void {
  if (Number.isFinite(steps) && steps >= 0 && allowedMismatch >= 0 && allowedMismatch < 1) return
  const what = `${steps} steps off in a fraction of ${allowedMismatch} is not a valid limit for quantised values; give finite steps and a fraction below 1`
  throw new UsageError('tolerance', what)
}

/** Refuses a source whose byte length does not match its shape. */
function checkByteLength(source: TensorSource, side: Side): void {
  const need = countBytes(source.dtype, source.shape)
  if (need === null || need === source.byteLength) return
  const what = `tensor "${source.name}" of the ${side} has ${source.byteLength} bytes, but ${source.dtype} ${formatShape(source.shape)} takes ${need}; its stored copy is damaged, run again with --recompute`
  throw new StageError('compare', what, { side })
}

function describeMismatch(reference: TensorSource, target: TensorSource, targetDType: DType | null) {
  const isSameShape = formatShape(reference.shape) === formatShape(target.shape)
  const isSameDType = target.dtype === reference.dtype || isDeclared(reference.dtype, target.dtype, targetDType)
  if (isSameShape && isSameDType) return null
  const reasons = [
    ...(isSameShape ? [] : [`shape ${formatShape(target.shape)}, the reference has ${formatShape(reference.shape)}`]),
    ...(isSameDType ? [] : [`dtype ${target.dtype}, the reference has ${reference.dtype}`]),
  ]
  return { reason: reasons.join('; '), flags: [...(isSameShape ? [] : ['shape']), ...(isSameDType ? [] : ['dtype'])] }
}

/** A target that declares another precision may return its floats in that precision. */
function isDeclared(reference: DType, target: DType, declared: DType | null): boolean {
  return target === declared && dtypeKind(reference) === 'float' && dtypeKind(target) === 'float'
}
