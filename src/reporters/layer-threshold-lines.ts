import { tableLines } from '../domain/table.ts'
import { formatShape } from '../domain/tensor.ts'
import { cleanText, formatNumber, shortenMiddle, wrapText } from '../domain/text.ts'
import { DOCUMENTED_METRICS, type DocumentedMetric } from '../suites/layers/thresholds/documented-values.ts'
import type { LimitedLayer } from '../suites/layers/thresholds/layer-thresholds.ts'
import type { LearntLayers } from '../suites/layers/thresholds/learn-layer-thresholds.ts'

/** How the other tool introduces its numbers. */
const DOCUMENTED_WORDS: Readonly<Record<DocumentedMetric, string>> = {
  abs_diff: 'avg abs_diff',
  cos_sim: 'avg cos_sim',
  cos_sim_avg: 'cos_sim_avg',
  cos_sim_mean: 'cos_sim_mean',
}

const isDocumented = (metric: string): metric is DocumentedMetric => Object.hasOwn(DOCUMENTED_WORDS, metric)

/** `Layer model.norm avg abs_diff = 0.5`: all layers for one metric, then for the next. */
export function documentedLayerLines({ documented, thresholds }: LearntLayers, metrics: readonly string[]): string[] {
  return metrics.flatMap((metric) => {
    if (!isDocumented(metric)) return thresholds.layers.map((layer) => limitLine(layer, metric))
    return documented.map(({ name, values: { [metric]: value } }) => {
      return `Layer ${cleanText(name)} ${DOCUMENTED_WORDS[metric]} = ${typeof value === 'number' ? value : 'not measured'}`
    })
  })
}

function limitLine({ name, shape, metrics, unlimited = {} }: LimitedLayer, metric: string): string {
  const limit = metrics[metric]
  const { [metric]: why = 'not measured' } = unlimited
  const of = shape === null ? '' : ` ${formatShape(shape)}`
  return `Layer ${cleanText(name)}${of} ${limit ? `${limit.statistic} ${metric} = ${limit.value}` : `${metric} = ${why}`}`
}

const SHOWN = 10
const NAME_COLUMNS = 26
const COLUMNS_OF_TEXT = 80

/** What the numbers are, what is odd about them, and the limits of the layers that are furthest off. */
export function layerThresholdLines(learnt: LearntLayers, metrics: readonly string[]): string[] {
  const { files, place, notes } = learnt
  const found = `found ${files} ${files === 1 ? 'file' : 'files'} of layers in ${cleanText(place)}`
  const meanings = metrics.filter(isDocumented).map((metric) => `${metric}: ${meaningOf(metric, learnt)}`)
  const odd = [...notes, ...fewNotes(learnt), ...unmeasuredNotes(learnt, metrics)].map((note) => `note: ${note}`)
  const wrap = (text: string) => wrapText(cleanText(text), COLUMNS_OF_TEXT)
  return [found, ...meanings.flatMap(wrap), '', ...limitTable(learnt.thresholds.layers), '', ...odd.flatMap(wrap)]
}

function meaningOf(metric: DocumentedMetric, { documented }: LearntLayers): string {
  if (metric === 'abs_diff') {
    return 'no average but the L2 norm of all differences of a layer, so it grows with their number; rel_l2 and rmse do not'
  }
  const isBySign = metric === 'cos_sim' && documented.some(({ cosSim }) => cosSim === 'signs')
  return isBySign
    ? 'no cosine but how far the signs of elements agree (sign_agreement); row_cosine is a cosine'
    : 'the mean cosine of rows (row_cosine); half of a healthy baseline is below a mean, so the limit is p1'
}

/** A tail of few values is hardly one. */
function fewNotes({ thresholds: { layers } }: LearntLayers): string[] {
  const most = Math.max(...layers.flatMap(({ metrics }) => Object.values(metrics).map(({ count }) => count)), 0)
  if (most >= 100) return []
  const values = `${most} ${most === 1 ? 'value' : 'values'} or fewer`
  return [`limits are learnt from ${values}, so p99 and p1 are about the worst of them; measure more steps or runs`]
}

function unmeasuredNotes({ documented }: LearntLayers, metrics: readonly string[]): string[] {
  const asked = DOCUMENTED_METRICS.filter((metric) => metrics.includes(metric))
  const found = asked.flatMap((metric) =>
    documented.flatMap(({ name, values: { [metric]: value } }) =>
      typeof value === 'number' ? [] : [`${metric} of ${name} is not measured: ${value.why}`],
    ),
  )
  const more = found.length - SHOWN
  return [...found.slice(0, SHOWN), ...(more > 0 ? [`${more} more are not measured`] : [])]
}

/** The first that was measured decides which layers are furthest off. */
const COLUMNS = ['rel_l2', 'rmse', 'row_cosine', 'sign_agreement']
const MOST_COLUMNS = 3

function limitTable(layers: readonly LimitedLayer[]): string[] {
  const columns = COLUMNS.filter((metric) => layers.some(({ metrics }) => metrics[metric])).slice(0, MOST_COLUMNS)
  const worst = [...layers].sort((a, b) => sizeOf(b, columns[0]) - sizeOf(a, columns[0])).slice(0, SHOWN)
  const shown = layers.filter((layer) => worst.includes(layer))
  const title = layers.length > shown.length ? `widest limits of ${layers.length} layers` : 'limits of layers'
  const rows = shown.map(({ name, shape, metrics }) => [
    shortenMiddle(cleanText(name), NAME_COLUMNS),
    shape === null ? '' : formatShape(shape),
    ...columns.map((metric) => (metrics[metric] ? formatNumber(metrics[metric].value) : 'not measured')),
  ])
  const head = [title, 'shape', ...columns.map((metric) => `${metric} ${tailOf(layers, metric)}`)]
  const look = { columns: [{}, {}, { align: 'right' as const }] }
  return tableLines([head, ...rows], look).map((line) => `  ${line}`)
}

function sizeOf({ metrics }: LimitedLayer, metric: string | undefined): number {
  const limit = metric === undefined ? undefined : metrics[metric]
  if (!limit) return -Number.MAX_VALUE
  return limit.direction === 'lower' ? limit.value : -limit.value
}

function tailOf(layers: readonly LimitedLayer[], metric: string): string {
  return layers.find(({ metrics }) => metrics[metric])!.metrics[metric]!.statistic
}
