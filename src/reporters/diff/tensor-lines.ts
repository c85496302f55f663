import type { DiffSide, TensorDiff } from '../../compare/diff/diff-tensors.ts'
import type { WorstPlace } from '../../domain/result.ts'
import { FIGURES, tableLines } from '../../domain/table.ts'
import { formatShape } from '../../domain/tensor.ts'
import { cleanProse, cleanText, displayWidth, formatNumber, formatPair, wrapText } from '../../domain/text.ts'
import { blockWriter } from '../case-block.ts'
import { metricText, withinLimit } from '../explain.ts'
import { paintVerdict, type Style } from '../style.ts'
import { axisLines } from './axis-lines.ts'
import { histogramLines, histogramTitle } from './histogram-lines.ts'
import { neighbourLines } from './neighbour-lines.ts'
import { pictureLines, pictureTitle } from './picture-lines.ts'

const SHOWN_METRICS = ['rel_l2', 'max_abs', 'p99_abs', 'max_rel', 'cosine', 'snr_db', 'max_ulp']
const WORST_SHOWN = 5

/** Where the two sides come from, in words. */
export interface SideLabels {
  readonly reference: string
  readonly target: string
  /** They have several tensors. */
  readonly areMany?: boolean
}

/** Everything that is known of the difference of two tensors, on about one screen. */
export function tensorLines(diff: TensorDiff, labels: SideLabels, style: Style, verbose: boolean): string[] {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', style.paint('bold', title), ...lines]
  const { picture, neighbours, output } = diff
  const hasErrors = diff.histogram === null || diff.histogram.bins.length > 0
  const isDifferent = diff.findings.length > 0 || output.worst.some(({ error }) => error !== 0)
  return [
    ...sideLines('reference', labels.reference, diff.reference, style),
    ...sideLines('target', labels.target, diff.target, style),
    ...verdictLines(diff, style),
    ...section('what it looks like', findingLines(diff, style)),
    ...section(histogramTitle(diff.limits), diff.histogram ? histogramLines(diff.histogram, diff.limits, style) : []),
    ...section('worst places', isDifferent ? worstLines(output.worst, style, verbose) : []),
    ...section('squared error by axis', hasErrors && diff.axes.length > 0 ? axisLines(diff.axes, style) : []),
    ...section(
      'around the worst place',
      isDifferent && picture && neighbours ? neighbourLines(neighbours, picture, style) : [],
    ),
    ...(isDifferent && picture && picture.grid.rowAxis !== null
      ? section(pictureTitle(picture, style), pictureLines(picture, style))
      : []),
  ]
}

function sideLines(side: string, label: string, { dtype, shape, facts }: DiffSide, style: Style): string[] {
  const write = blockWriter(style, 0)
  const kind = `${dtype} ${formatShape(shape)}`
  const values =
    facts === null || facts.finite === 0
      ? []
      : [
          `${formatNumber(facts.min!)} to ${formatNumber(facts.max!)}`,
          `mean ${formatNumber(facts.mean!)}`,
          `std ${formatNumber(facts.std!)}`,
        ]
  const odd =
    facts === null
      ? []
      : [...(facts.nan > 0 ? [`${facts.nan} NaN`] : []), ...(facts.infinite > 0 ? [`${facts.infinite} infinite`] : [])]
  return [...write(side, cleanText(label, 200)), ...write('', [kind, ...values, ...odd].join(' · '))]
}

function verdictLines({ output, histogram }: TensorDiff, style: Style): string[] {
  const write = blockWriter(style)
  const count = output.mismatches?.of ?? 0
  const isSame = histogram !== null && histogram.bins.length === 0
  const agreement =
    count === 0 ? 'there are no values' : `all ${count} values are ${isSame ? 'the same' : 'within the limits'}`
  const why = output.reason ?? agreement
  const head = paintVerdict(style, output.verdict, `${style.symbol(output.verdict)} ${output.verdict.toUpperCase()}`)
  const [first = '', ...rest] = wrapText(cleanProse(why), style.columns - 8)
  const shown = SHOWN_METRICS.flatMap((name) =>
    output.metrics.filter((metric) => metric.name === name && metric.value !== null),
  )
  const metrics = [...shown.filter((metric) => !withinLimit(metric)), ...shown.filter(withinLimit)]
  return [
    '',
    `${head}  ${first}`,
    ...rest.map((line) => `        ${line}`),
    ...write('rule', cleanProse(output.rule)),
    ...write('measured', metrics.map(metricText).join(' · ')),
    ...write('would pass', output.wouldPass && cleanProse(output.wouldPass)),
  ]
}

function findingLines({ findings }: TensorDiff, style: Style): string[] {
  return findings.flatMap(({ text }) =>
    wrapText(text, style.columns - 4).map((line, i) => `  ${i === 0 ? '•' : ' '} ${line}`),
  )
}

function worstLines(places: readonly WorstPlace[], style: Style, verbose: boolean): string[] {
  const shown = places.filter(({ error }) => error !== 0).slice(0, verbose ? places.length : WORST_SHOWN)
  if (shown.length === 0) return []
  const cells = shown.map(({ index, reference, target, error, allowed }) => [
    `[${index.join(', ')}]`,
    cleanText(reference, 24),
    cleanText(target, 24),
    ...formatPair(error, allowed),
  ])
  const table = tableLines([['at', 'reference', 'target', 'error', 'allowed'], ...cells], FIGURES)
  if (displayWidth(table[0]!) + 2 <= style.columns) {
    return table.map((line, i) => `  ${i === 0 ? style.paint('dim', line) : line}`)
  }
  return cells.flatMap(([at, reference, target, error, allowed]) =>
    wrapText(
      `${at} reference ${reference}, target ${target}, error ${error}, allowed ${allowed}`,
      style.columns - 4,
    ).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`),
  )
}
