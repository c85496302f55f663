import { UsageError } from '../../../domain/errors.ts'
import { unknown } from '../../../domain/suggest.ts'
import { type Kind, number, parsed } from '../../../options/kinds.ts'
import type { MetricLimits } from '../gates/limits.ts'

export const GATES = ['paired', 'rate', 'three-way'] as const

const SKIPPABLE = ['ce', 'mean_diff'] as const
type Skippable = (typeof SKIPPABLE)[number]

/** A share of tokens. */
export const rate: Kind<number> = {
  ...number,
  expected: 'a number over 0 and at most 1',
  read(raw, name, origin) {
    const value = number.read(raw, name, origin)
    if (value > 0 && value <= 1) return value
    throw new UsageError('option', `${name} takes a number over 0 and at most 1, found "${raw}"`)
  },
}

/** `2.8364005851745624,0.0007839603102183846`: cross entropy first. */
export const metricLimits: Kind<MetricLimits> = parsed(
  'two numbers, such as "2.84,0.00078"',
  parseMetricLimits,
  ({ ce, diffMean }) => `${ce},${diffMean}`,
)

export function parseMetricLimits(given: string, name: string): MetricLimits {
  const [ce, diffMean, ...others] = given.split(',').map((word) => (word.trim() === '' ? Number.NaN : Number(word)))
  if (others.length === 0 && isLimit(ce) && isLimit(diffMean)) return { ce, diffMean }
  throw new UsageError('option', `${name} takes two numbers over 0, as in 2.84,0.00078, found "${given}"`)
}

function isLimit(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0
}

/** Metrics whose rate does not affect the verdict. */
export const skippable: Kind<readonly Skippable[]> = parsed('ce or mean_diff', parseSkippable, (value) =>
  value.join(','),
)

function parseSkippable(given: string, name: string): Skippable[] {
  return given.split(',').map((word) => {
    const found = SKIPPABLE.find((known) => known === word.trim())
    if (found) return found
    throw unknown('option', `${name} "${word}"`, word, SKIPPABLE)
  })
}
