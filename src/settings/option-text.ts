import type { OptionSpec, OptionValue } from './options.ts'

/** A value as one would write it: `8gib`, `300s`, `full,layers`. */
export function valueText(spec: OptionSpec, value: OptionValue): string {
  if (value === undefined) return defaultInWords(spec) ?? ''
  if (typeof value === 'object') return value.join(' ')
  if (spec.type === 'bytes') return sizeText(Number(value))
  return spec.type === 'seconds' ? `${value}s` : String(value)
}

/** What happens without a value, where that depends on more than the option. */
function defaultInWords(spec: OptionSpec): string | null {
  return /\(default: (.*)\)$/.exec(spec.help)?.[1] ?? null
}

const SIZES: readonly (readonly [string, number])[] = [
  ['gib', 2 ** 30],
  ['gb', 1e9],
  ['mib', 2 ** 20],
  ['mb', 1e6],
]

function sizeText(size: number): string {
  const unit = size > 0 ? SIZES.find(([, bytes]) => size % bytes === 0) : undefined
  return unit ? `${size / unit[1]}${unit[0]}` : String(size)
}
