import type { RawTensor } from '../../src/compare/slice/classify.ts'
import { dtypeKind } from '../../src/domain/dtype.ts'
import type { WorstPlace } from '../../src/domain/result.ts'
import { formatNumber, formatPair } from '../../src/domain/text.ts'
import { decodeBigInts } from '../../src/tensors/decode.ts'
import { formatElement } from '../../src/tensors/format-element.ts'
import type { LoadedSlice } from './pictures/cells.ts'

export function elementText(raw: RawTensor | undefined, position: number): string {
  return raw ? formatElement(raw.dtype, raw.bytes, position) : '–'
}

/** |target − reference|; of integers exactly. */
export function errorText({ raw: { reference, target } }: LoadedSlice, position: number, difference: number): string {
  if (!reference || !target) return '–'
  if (isInteger(reference) && isInteger(target)) {
    const [r] = decodeBigInts(reference.dtype, reference.bytes, position, 1)
    const [t] = decodeBigInts(target.dtype, target.bytes, position, 1)
    return String(t! > r! ? t! - r! : r! - t!)
  }
  return formatNumber(Math.abs(difference))
}

function isInteger({ dtype }: RawTensor): boolean {
  return ['int', 'uint', 'bool'].includes(dtypeKind(dtype))
}

export function formatIndex(index: readonly number[]): string {
  return `[${index.join(', ')}]`
}

/** 1,234,567 */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** A share that is 0 % or 100 % only where it is none or all. */
export function formatShare(count: number, of: number): string {
  if (count === 0 || count === of) return count === 0 ? '0 %' : '100 %'
  const percent = (100 * count) / of
  if (percent < 0.01) return '< 0.01 %'
  return percent > 99.99 ? '> 99.99 %' : `${formatNumber(percent, 3)} %`
}

/** How many times the limit an error is, in words. */
export function describeSeverity(severity: number): string {
  if (severity === 0) return 'equal'
  if (severity <= 1) return `within, ${formatShare(severity * 1e6, 1e6)} of what is allowed`
  if (Number.isNaN(severity)) return 'non-finite and not the same'
  return Number.isFinite(severity)
    ? `over, ${formatNumber(severity, 3)} times what is allowed`
    : 'over, where nothing is allowed'
}

/** Of a place in a complex tensor, whether its real (0) or imaginary part (1) is further off. */
export function worsePart({ reference, target }: WorstPlace): 0 | 1 {
  const [r, t] = [partsOf(reference), partsOf(target)]
  const error = (part: 0 | 1) => (Object.is(r[part], t[part]) ? 0 : Math.abs(t[part] - r[part]))
  const [real, imaginary] = [error(0), error(1)]
  if (Number.isNaN(real)) return 0
  return Number.isNaN(imaginary) || imaginary > real ? 1 : 0
}

/** `1.5e-7-2i` */
function partsOf(text: string): [number, number] {
  const [, real, imaginary] = /^(.+?(?<!e))([+-][^+-]*(?:e[+-]\d+)?)i$/.exec(text) ?? []
  return [Number(real), Number(imaginary)]
}

/** Two values with as many digits as tell them apart, up to `most`; integers, NaN and text as they are. */
export function shortPair(reference: string, target: string, most = 9): [string, string] {
  const isDecimal = [reference, target].some(
    (text) => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) && !/^-?\d+$/.test(text),
  )
  if (!isDecimal) return [reference, target]
  const pair = formatPair(Number(reference), Number(target))
  if (pair.every((text) => text.replace(/^-?0?\.?0*|e.*$/g, '').length <= most + 1)) return pair
  return [formatNumber(Number(reference), most), formatNumber(Number(target), most)]
}
