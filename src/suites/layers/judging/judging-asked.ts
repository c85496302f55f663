import { UsageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import type { Values } from '../../../options/table.ts'
import { targetNamed } from '../../tensors/targets/chosen-targets.ts'
import type { TargetSections } from '../../tensors/targets/config-target.ts'
import type { JUDGING_OPTIONS } from './options.ts'

/** What layers are to be judged by, as it was asked. */
export interface JudgingAsked {
  readonly thresholds: string | undefined
  readonly baseline: Target | undefined
  readonly margin: number
}

/** Part of the plan: shards that judge by different limits do not merge. */
export function choicesOf({ thresholds, baseline, margin }: JudgingAsked) {
  return { thresholds, baseline: baseline?.name, margin }
}

export function readJudging(values: Values<typeof JUDGING_OPTIONS>, config: TargetSections): JudgingAsked {
  const { thresholds, baseline, margin } = values
  if (thresholds !== undefined && baseline !== undefined) {
    throw new UsageError('layers', 'give --thresholds or --baseline: each of them says what a layer may be off')
  }
  return { thresholds, baseline: baseline === undefined ? undefined : targetNamed(baseline, config), margin }
}
