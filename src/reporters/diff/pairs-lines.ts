import type { OutputResult } from '../../domain/result.ts'
import { FIGURES, tableLines } from '../../domain/table.ts'
import { formatShape } from '../../domain/tensor.ts'
import { cleanText, formatNumber, shortenMiddle } from '../../domain/text.ts'
import { paintVerdict, type Style } from '../style.ts'

const SHOWN = 12
const NAME_COLUMNS = 32

/** Why a pair was not compared, by its flag. */
const ONE_WORD: Readonly<Record<string, string>> = {
  missing: 'only in the reference',
  extra: 'only in the target',
  shape: 'shape differs',
  dtype: 'dtype differs',
}

/** One line per tensor, worst first, and how many there are of which verdict. */
export function pairsLines(outputs: readonly OutputResult[], style: Style, verbose: boolean): string[] {
  const shown = verbose ? outputs : outputs.slice(0, SHOWN)
  const table = tableLines([['tensor', 'shape', 'rel_l2', 'max_abs', 'over'], ...shown.map(cellsOf)], FIGURES)
  const rows = shown.map((output, i) => rowOf(output, table[i + 1]!, style))
  const hidden = outputs.length - shown.length
  const more = hidden > 0 ? [style.paint('dim', `  … ${hidden} more (-v shows them)`)] : []
  return [countText(outputs), style.paint('dim', `  ${' '.repeat(7)}${table[0]!}`), ...rows, ...more]
}

function countText(outputs: readonly OutputResult[]): string {
  const failed = outputs.filter(({ verdict }) => verdict !== 'pass').length
  const alone = outputs.filter(({ flags }) => flags.includes('missing') || flags.includes('extra')).length
  const words = alone > 0 ? `, ${alone} of them on one side only` : ''
  return failed === 0
    ? `${outputs.length} tensors, all within the limits`
    : `${outputs.length} tensors, ${failed} differ${words}`
}

function cellsOf({ name, shape, metrics, mismatches, flags }: OutputResult): string[] {
  const metric = (wanted: string) => metrics.find((found) => found.name === wanted)?.value
  const number = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : formatNumber(value)
  return [
    shortenMiddle(cleanText(name), NAME_COLUMNS),
    shape ? formatShape(shape) : '–',
    number(metric('rel_l2')),
    number(metric('max_abs')),
    mismatches ? `${mismatches.count} of ${mismatches.of}` : (ONE_WORD[flags[0] ?? ''] ?? '–'),
  ]
}

function rowOf({ verdict }: OutputResult, cells: string, style: Style): string {
  return `  ${paintVerdict(style, verdict, `${style.symbol(verdict)} ${verdict.padEnd(4)} `)}${cells}`
}
