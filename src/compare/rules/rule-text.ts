import type { Rule, Tolerance } from '../contract.ts'
import { loneRtol } from './tolerances.ts'

/** A limit in few characters: 1e-3, 0.05, 2.5e-4. */
export function formatLimit(value: number): string {
  if (value === 0 || !Number.isFinite(value) || (value >= 0.01 && value < 1e4)) return String(value)
  return value.toExponential()
}

/** A measured value with three digits. */
export function formatMeasured(value: number): string {
  return Number.isFinite(value) ? formatLimit(Number(value.toPrecision(3))) : String(value)
}

/** A limit that a measured value just meets: two digits, rounded up. */
export function formatRoundedUp(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return formatLimit(value)
  const digit = 10 ** (Math.floor(Math.log10(value)) - 1)
  const rounded = Number((Math.ceil(value / digit) * digit).toPrecision(2))
  return formatLimit(rounded >= value ? rounded : Number((rounded + digit).toPrecision(2)))
}

/** The rule that judges a tensor, with its limits; `hasScale` is false for single elements and all-zero references. */
export function describeRule(rule: Rule, hasScale: boolean): string {
  return `${rule.source}: ${describeLimits(rule, hasScale)}`
}

function describeLimits(rule: Rule, hasScale: boolean): string {
  if (rule.kind === 'exact') return 'exactly equal'
  if (rule.kind === 'float') return describeTolerance(rule.tolerance, hasScale)
  if (rule.kind === 'index') {
    const { op, tensor, last } = rule.selection
    const ties = last ? ' (the last of equal ones)' : ''
    return `the values that ${op} selects in "${tensor}"${ties}, ${describeElementLimit(rule.tolerance, hasScale)}`
  }
  const unit = rule.steps === 1 ? 'step' : 'steps'
  return `at most ${rule.steps} ${unit} off, in at most ${formatLimit(rule.allowedMismatch * 100)} % of the elements`
}

function describeTolerance(tolerance: Tolerance, hasScale: boolean): string {
  const elements = describeElementLimit(tolerance, hasScale)
  if (!hasScale || tolerance.relL2 === null) return elements
  return `${elements}, relL2 ≤ ${formatLimit(tolerance.relL2)}${tolerance.rounding > 0 ? ' beyond such roundings' : ''}`
}

function describeElementLimit(tolerance: Tolerance, hasScale: boolean): string {
  const { rtol, scale, atol, floor, rounding, allowedMismatch } = tolerance
  const relative = hasScale ? rtol : loneRtol(tolerance)
  const terms = [
    ...(relative === 0 ? [] : [`${formatLimit(relative)}·|r|`]),
    ...(hasScale && scale > 0 ? [`${formatLimit(scale)}·max|r|`] : []),
    ...(!hasScale && floor > 0 ? [formatLimit(floor)] : []),
    ...(atol === 0 ? [] : [formatLimit(atol)]),
    ...(rounding === 0 ? [] : [formatMeasured(rounding)]),
  ]
  const limit = `|t−r| ≤ ${terms.length === 0 ? '0' : terms.join(' + ')}`
  return allowedMismatch === 0 ? limit : `${limit} except in ${formatLimit(allowedMismatch * 100)} % of the elements`
}
