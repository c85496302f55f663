import { shellWord } from '../../../domain/shell.ts'
import { FOUND, placeName } from '../../../models/inputs/input-dims.ts'
import type { InputPolicy } from '../../../models/inputs/input-policy.ts'
import type { FoundInputs, PreparedInputs } from '../inputs.ts'
import type { SearchOutcome } from './input-search.ts'

/** What a search changed and why, with the options that ask for the same. */
export function describeFit(first: PreparedInputs, better: PreparedInputs, { found, awoken }: SearchOutcome): string {
  const sizes = sizeOptions(better, found!)
  const values = valueOptions(found!)
  const refused = first.dims.filter(({ free }) => free).map(({ name, size }) => `${name}=${size}`)
  return [
    ...(sizes.length > 0 ? [`the reference refuses ${refused.join(', ') || 'the usual axes'}`] : []),
    ...(values.length > 0 ? [whyOther(awoken)] : []),
    `found by trying: ${[...asOptions('--dim', sizes), ...asOptions('--input', values)].join(' ')}`,
  ].join('; ')
}

function asOptions(option: string, values: readonly string[]): string[] {
  return values.map((value) => `${option} ${shellWord(value)}`)
}

function whyOther(awoken: string | null): string {
  if (awoken === null) return 'the reference refuses the usual values'
  return 'the usual values give the same number everywhere'
}

/** Of an input whose axes were found, all sizes. */
function sizeOptions({ dims }: PreparedInputs, { ranks }: FoundInputs): string[] {
  const placed = Object.entries(ranks).flatMap(([name, rank]) =>
    Array.from({ length: rank }, (_, axis) => placeName(name, axis)),
  )
  const shown = dims.filter(({ name, because }) => because === FOUND || placed.includes(name))
  return shown.map(({ name, size }) => `${name}=${size}`)
}

function valueOptions({ policies }: FoundInputs): string[] {
  return Object.entries(policies).map(([name, policy]) => `${name}=${policyText(policy)}`)
}

function policyText(policy: InputPolicy): string {
  if ('signal' in policy) return policy.range ? `${policy.signal}:${policy.range.join('..')}` : policy.signal
  return 'range' in policy ? policy.range.join('..') : ''
}
