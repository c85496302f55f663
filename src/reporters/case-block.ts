import { basename, dirname, isAbsolute, join } from 'node:path'
import type { CaseError, Metric, OutputResult, Result, SensitivityBand, WorstPlace } from '../domain/result.ts'
import { shellWord } from '../domain/shell.ts'
import { FIGURES, tableLines } from '../domain/table.ts'
import { formatShape } from '../domain/tensor.ts'
import {
  cleanLog,
  cleanProse,
  cleanText,
  displayWidth,
  formatBytes,
  formatDuration,
  formatNumber,
  formatPair,
  shortenMiddle,
} from '../domain/text.ts'
import { curveLines } from './curve-lines.ts'
import { entryText } from './expected-lines.ts'
import { brokenMetrics, errorText, judgedVerdict, metricText, metricWithProvenance, withinLimit } from './explain.ts'
import { figureTable } from './figure-lines.ts'
import { paintVerdict, type Style } from './style.ts'

export interface BlockOptions {
  readonly style: Style
  readonly verbose: boolean
  /** The run's folder, where artifacts lie. */
  readonly folder: string
  readonly durationMs: number | undefined
}

const LABEL_WIDTH = 11
const WORST_SHOWN = 5
const OUTPUTS_SHOWN = 5
const PRINTED_LINES = 10
const COMMAND_LENGTH = 8000
const MEASURED_LENGTH = 2000
const REFINEMENTS = new Set(['mean_abs', 'median_abs', 'mean_rel', 'median_rel', 'p99_rel', 'rmse', 'max_ulp'])
const INSTALLATION = new Set(['file', 'devices', 'engine', 'features', 'isolated', 'warnings', 'deterministic'])

/** Everything that is known about one case, worst first, ending with the command that judges it again. */
export function caseBlock(result: Result, options: BlockOptions): string[] {
  const write = blockWriter(options.style)
  return [
    title(result, options),
    ...whyLines(result).flatMap((line, i) => write(i === 0 ? 'why' : '', line)),
    ...write('expected', result.expected && entryText(result.expected)),
    ...write('same as', result.sameAs && cleanText(result.sameAs)),
    ...write('flags', result.flags.map((flag) => cleanText(flag, 80)).join(', ')),
    ...write('compared', coverageText(result)),
    ...(result.error ? errorLines(result.error, options) : []),
    ...curveLines(result.curves ?? [], options.style).map((line) => `  ${line}`),
    ...(result.table ? figureTable(result.table, options.style).map((line) => `  ${line}`) : []),
    ...caseMetrics(result).flatMap((metric) => write('metric', metricLine(metric, options.style))),
    ...outputLines(result, options),
    ...(result.figures ?? []).flatMap((figure, i) => write(i === 0 ? 'figures' : '', cleanProse(figure))),
    ...textLines(result, options),
    ...(result.band ?? []).flatMap((band) => write('noise', bandText(band))),
    ...measurementLines(result, options.verbose).flatMap((line, i) => write(i === 0 ? 'ran' : '', line)),
    ...fileLines(result, options),
    `  ${paintLabel(options.style, 'reproduce')}${commandText(result.reproduce)}`,
    ...lookLines(result, options),
  ]
}

/** Runs that lie where assay diff looks by itself are named by their id. */
function runWord(folder: string): string {
  return /(^|[/\\])\.assay[/\\]runs$/.test(dirname(folder)) ? basename(folder) : folder
}

/** The command that shows both sides of a case whose tensors were kept; never shortened, like the one above it. */
function lookLines({ id, verdict, artifacts }: Result, { style, folder }: BlockOptions): string[] {
  const keeps = (side: string) => artifacts.some(({ name }) => name === `${side}.safetensors`)
  if (verdict === 'pass' || !keeps('reference') || !keeps('target')) return []
  const command = `assay diff ${shellWord(id)} --run ${shellWord(runWord(folder))}`
  return [`  ${paintLabel(style, 'look')}${commandText(command)}`]
}

/** An error before the comparison has nothing to cover. */
function coverageText({ coverage, error }: Result): string | undefined {
  if (error && coverage.expected === 0) return undefined
  return `${coverage.compared} of ${coverage.expected}`
}

type BlockWriter = (label: string, text: string | undefined) => string[]

/** Lines with a label in front and wrapped text beside it; no text, no lines. */
export function blockWriter(style: Style, indent = 2): BlockWriter {
  const look = { columns: [{ width: LABEL_WIDTH - 1 }], gap: 1, room: style.columns - indent }
  return (label, text) => {
    if (!text) return []
    return tableLines([[style.paint('dim', label), text]], look).map((line) => `${' '.repeat(indent)}${line}`)
  }
}

/** In front of a text that is not wrapped. */
export function paintLabel(style: Style, label: string): string {
  return style.paint('dim', label.padEnd(LABEL_WIDTH))
}

function title(result: Result, { style, durationMs }: BlockOptions): string {
  const verdict = paintVerdict(style, result.verdict, `${style.symbol(result.verdict)} ${result.verdict.toUpperCase()}`)
  const took = durationMs === undefined ? '' : `  ${style.paint('dim', formatDuration(durationMs))}`
  return `${verdict}  ${style.paint('bold', cleanText(result.id))}${took}`
}

function whyLines(result: Result): string[] {
  const reason = result.reason ? [cleanProse(result.reason)] : []
  const broken =
    judgedVerdict(result) === 'fail' && !result.reason ? brokenMetrics(result).map(metricWithProvenance) : []
  const lines = [...reason, ...(result.error ? [errorText(result.error)] : []), ...broken]
  return lines.length > 0 || result.verdict === 'pass' ? lines : ['no reason recorded']
}

function errorLines(error: CaseError, options: BlockOptions): string[] {
  const write = blockWriter(options.style)
  const argv = error.argv?.map((word) => (/\s|^$/.test(word) ? JSON.stringify(word) : word)).join(' ')
  const lines = [
    ...write('tool', error.tool && cleanText(error.tool)),
    ...write('command', argv && cleanText(argv, 1000)),
  ]
  return error.stderr ? [...lines, ...printedLines(error.stderr, options)] : lines
}

const TEXTS_SHOWN = 1

/** What both sides wrote; one block unless all are asked for. */
function textLines({ texts = [] }: Result, { style, verbose }: BlockOptions): string[] {
  const write = blockWriter(style, 4)
  return texts
    .slice(0, verbose ? texts.length : TEXTS_SHOWN)
    .flatMap(({ title, lines }) => [
      `  ${paintLabel(style, 'text')}${cleanText(title, 200)}`,
      ...lines.flatMap(({ label, text }) => write(cleanText(label, LABEL_WIDTH - 1), cleanText(text, 2000))),
    ])
}

function printedLines(printed: string, { style, verbose }: BlockOptions): string[] {
  const { lines, omitted } = cleanLog(printed, verbose ? 10 * PRINTED_LINES : PRINTED_LINES)
  const notes = omitted > 0 ? [style.paint('dim', `… ${omitted} earlier ${omitted === 1 ? 'line' : 'lines'}`)] : []
  const texts = [...notes, ...lines.map((line) => shortenMiddle(line, style.columns - 6))]
  const head = `  ${style.paint('dim', 'printed')}`
  return texts.length > 0 ? [head, ...texts.map((text) => `    ${style.paint('dim', '|')} ${text}`)] : []
}

function outputLines(result: Result, options: BlockOptions): string[] {
  const notable = options.verbose ? result.outputs : result.outputs.filter((output) => output.verdict !== 'pass')
  const shown = options.verbose ? notable : notable.slice(0, OUTPUTS_SHOWN)
  const lines = shown.flatMap((output) => outputBlock(output, result, options))
  const places = result.outputs.every((output) => output.worst.length === 0) ? result.worst : []
  return [...lines, ...worstLines(places, null, options), ...restLine(result, shown.length, notable.length, options)]
}

function restLine(result: Result, shown: number, notable: number, { style }: BlockOptions): string[] {
  const hidden = notable - shown
  const passed = result.outputs.length - notable
  const parts = [hidden > 0 && `${hidden} more not passed (-v shows them)`, passed > 0 && `${passed} passed`]
  const text = parts.filter(Boolean).join(', ')
  return text ? blockWriter(style)('outputs', shown > 0 ? `others: ${text}` : text) : []
}

function outputBlock(output: OutputResult, result: Result, options: BlockOptions): string[] {
  const { style, verbose } = options
  const write = blockWriter(style, 4)
  const isSaid = output.reason !== undefined && result.reason?.includes(output.reason) && !isWithinCount(output)
  return [
    outputTitle(output, style),
    ...write('why', isSaid ? undefined : output.reason && cleanProse(output.reason)),
    ...write('rule', cleanProse(output.rule)),
    ...write('flags', verbose ? output.flags.map((flag) => cleanText(flag, 80)).join(', ') : undefined),
    ...write('mismatches', mismatchText(output)),
    ...write('measured', shownMetrics(output, verbose).map(metricText).join(' · ')),
    ...write('would pass', output.wouldPass && cleanProse(output.wouldPass)),
    ...worstLines(output.worst, output.name, options),
  ]
}

/** Broken limits first; unless all are asked for, without counts of nothing and without what refines another metric. */
function shownMetrics({ metrics }: OutputResult, verbose: boolean): Metric[] {
  const broken = metrics.filter((metric) => !withinLimit(metric))
  const others = metrics.filter((metric) => withinLimit(metric))
  const isNotable = ({ name, value }: Metric) => value !== 0 && !REFINEMENTS.has(name)
  return [...broken, ...(verbose ? others : others.filter(isNotable))]
}

/** Metrics that no output shows: all of a case without outputs, otherwise those that could not be measured. */
function caseMetrics(result: Result): Metric[] {
  if (result.outputs.length === 0) return [...result.metrics]
  return result.metrics.filter((metric) => metric.value === null)
}

function metricLine(metric: Metric, style: Style): string {
  const sign = metric.threshold === undefined ? '' : `${style.symbol(withinLimit(metric) ? 'pass' : 'fail')} `
  return `${sign}${metricWithProvenance(metric)}`
}

function outputTitle(output: OutputResult, style: Style): string {
  const verdict = paintVerdict(style, output.verdict, `${style.symbol(output.verdict)} ${output.verdict}`)
  return `  ${paintLabel(style, 'output')}${cleanText(output.name, 200)}  ${kindText(output)}${verdict}`
}

/** Numbers that a program logged are no tensors. */
function kindText({ dtype, shape }: OutputResult): string {
  if (dtype === null && shape === null) return ''
  return `${dtype ?? 'dtype not known'} ${shape ? cleanText(formatShape(shape), 120) : 'shape not known'}  `
}

/** It failed for another reason than how many values are wrong. */
function isWithinCount({ verdict, mismatches, reason }: OutputResult): boolean {
  return verdict !== 'pass' && reason !== undefined && mismatches !== null && mismatches.count <= mismatches.allowed
}

function mismatchText(output: OutputResult): string | undefined {
  if (!output.mismatches || isWithinCount(output)) return undefined
  const { count, of, allowed } = output.mismatches
  return `${count} of ${of} (allowed ${formatNumber(allowed)})`
}

function worstLines(places: readonly WorstPlace[], output: string | null, options: BlockOptions): string[] {
  const rows = places.slice(0, options.verbose ? places.length : WORST_SHOWN).map((place) => placeCells(place, output))
  if (rows.length === 0) return []
  const table = tableLines([['worst at', 'reference', 'target', 'error', 'allowed'], ...rows], FIGURES)
  if (displayWidth(table[0]!) + 4 <= options.style.columns) {
    return table.map((line, i) => `    ${i === 0 ? options.style.paint('dim', line) : line}`)
  }
  return rows.flatMap((row) => blockWriter(options.style, 4)('worst', placeSentence(row)))
}

function placeCells(place: WorstPlace, output: string | null): string[] {
  const index = `[${place.index.join(', ')}]`
  const name = place.tensor === output ? '' : `${cleanText(place.tensor, 60)} `
  const [error, allowed] = formatPair(place.error, place.allowed)
  return [`${name}${index}`, cleanText(place.reference, 40), cleanText(place.target, 40), error, allowed]
}

function placeSentence([where, reference, target, error, allowed]: readonly string[]): string {
  return `${where} reference ${reference}, target ${target}, error ${error}, allowed ${allowed}`
}

function bandText(band: SensitivityBand): string {
  const size = `relL2 ${formatNumber(band.relL2)}, max error ${formatNumber(band.maxAbs)}`
  const name = cleanText(band.output, 80)
  const margin = band.margin === 1 ? '' : `; ${formatNumber(band.margin)} times that counts as sensitive`
  return `${name} moves by ${size} when the reference is disturbed (most by ${cleanText(band.by, 120)}; ${band.samples} samples${margin})`
}

/** One line per side, so that the two can be compared by eye; details of the installation only when asked for. */
function measurementLines({ measurements }: Result, verbose: boolean): string[] {
  const groups = new Map<string, string[]>()
  for (const [name, value] of Object.entries(measurements)) {
    const dot = name.indexOf('.')
    const key = name.slice(dot + 1)
    if (!verbose && INSTALLATION.has(key)) continue
    const group = dot < 0 ? '' : `${cleanText(name.slice(0, dot), 80)}: `
    const text = typeof value === 'number' ? formatNumber(value) : cleanText(value, MEASURED_LENGTH)
    groups.set(group, [...(groups.get(group) ?? []), `${cleanText(key, 80)} ${text}`])
  }
  return [...groups].map(([group, texts]) => `${group}${texts.join(' · ')}`)
}

const FILES_SHOWN = 6

function fileLines({ artifacts }: Result, { style, folder, verbose }: BlockOptions): string[] {
  const shown = verbose ? artifacts : artifacts.slice(0, FILES_SHOWN)
  const hidden = artifacts.length - shown.length
  const label = (i: number) => `  ${paintLabel(style, i === 0 ? 'files' : '')}`
  const lines = shown.map((artifact, i) => {
    const path = isAbsolute(artifact.path) ? artifact.path : join(folder, artifact.path)
    return `${label(i)}${cleanText(artifact.name, 80)}  ${cleanText(path)}  ${formatBytes(artifact.bytes)}`
  })
  return hidden > 0 ? [...lines, `${label(1)}${hidden} more (-v shows them)`] : lines
}

/** A command is never shortened or wrapped, since it is there to be copied. */
export function commandText(command: string): string {
  if (command.length <= COMMAND_LENGTH) return cleanText(command, COMMAND_LENGTH * 6)
  return `not printed, ${command.length} characters long; it is in the run's results.jsonl`
}
