import type { MetricRule } from '../../../domain/convergence.ts'
import { documentedLimits, isWithin, limitsAround, NO_LIMITS, passesDocumented, type ValueLimits } from './operators.ts'

/** What the seeds say about one step: their mean, and how far one more run may be from it. */
export interface StepNoise {
  readonly mean: number
  readonly reach: number
}

/**
 * Limits of one value. `margin` and `rel` are m·|r| beyond what was recorded, `abs` is m, each on the side or sides that
 * the operator bounds, so a negative value may become worse by as much as a positive one; `!=` must be farther away than
 * that. `exact` knows no direction. A mean that is judged as one leaves single values free.
 */
export function computeLimits(
  { comparison, tolerance }: MetricRule,
  reference: number,
  noise: StepNoise | null,
): ValueLimits {
  switch (tolerance.kind) {
    case 'isclose':
      return documentedLimits(reference, comparison, tolerance.margin)
    case 'margin':
    case 'rel':
      return limitsAround(reference, comparison, tolerance.margin * Math.abs(reference))
    case 'abs':
      return limitsAround(reference, comparison, tolerance.margin)
    case 'exact':
      return { low: reference, high: reference, edges: 'allowed' }
    case 'sigma':
      return noise === null ? NO_LIMITS : limitsAround(noise.mean, comparison, noise.reach)
    case 'ttest':
      return NO_LIMITS
  }
}

/** The documented kind is judged by its own rule, which its printed limits meet but for a rounding. */
export function passesRule(rule: MetricRule, limits: ValueLimits, reference: number, target: number): boolean {
  const { comparison, tolerance } = rule
  if (tolerance.kind === 'isclose') return passesDocumented(reference, comparison, target, tolerance.margin)
  return isWithin(limits, target)
}
