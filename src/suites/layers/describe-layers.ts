import { constants, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FigureTable, Metric } from '../../domain/result.ts'
import { formatNumber } from '../../domain/text.ts'
import { explainWriteError } from '../../files/disk/atomic.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import type { JointRun } from '../../runtimes/host/joint-capture.ts'
import { conclude, type JudgedLayer, originText } from './judging/conclude.ts'
import type { LayerJudging } from './judging/contract.ts'
import { judgedMetrics, tabulateJudged } from './judging/describe-judged.ts'
import { judgeLayers } from './judging/judge-layers.ts'
import { LAYERS_FILE, type LayerRow, writeLayersFile } from './layers-file.ts'
import { findValue, type MeasuredLayer, nameWithStep, type StepTensor, shapeOf, withMetrics } from './measured-layer.ts'
import { fmsNamesOf, limitsByBoth, renameJudged, renameLayers } from './names/rename-layers.ts'
import type { LayersCase } from './suite.ts'

/** What both sides gave, and how they ran. */
export interface MeasuredRun {
  readonly tensors: readonly StepTensor[]
  /** Of the reference and the target. */
  readonly runs: readonly JointRun[]
  readonly versions: readonly string[]
  readonly retried: boolean
  /** What the time of a side is called: of a run, or of all decoded steps from end to end. */
  readonly timing: 'run_ms' | 'e2e_ms'
  /** A second place for the file of layers, if nothing is there. */
  readonly listed?: string | undefined
}

/** Layers that are shown; the file has all. */
const SHOWN = 10

/** The numbers of all layers are kept, and the largest are shown; layers are judged where limits are known. */
export async function describeLayers(
  c: LayersCase,
  { tensors, runs, versions, retried, timing, listed }: MeasuredRun,
  chosen: Judgement['measurements'],
  lab: Lab,
  judging: LayerJudging | null = null,
): Promise<Judgement> {
  const { layers, judged } = await judgeNamed(c, withMetrics(tensors), judging)
  const file = await keep(c, layers, judged, lab)
  if (listed !== undefined) await copyNew(file, listed)
  const found = judged && judging ? conclude(judged, judging.limits.source) : describeMeasured(layers)
  const warnings = runs.flatMap((run) => run.warnings)
  return {
    ...(warnings.length > 0 ? doubt(found, warnings) : found),
    flags: [...(retried ? ['retried'] : []), ...(warnings.length > 0 ? ['warned'] : [])],
    metrics: judged && judging ? withLimits(worstOver(layers), judgedMetrics(judged, judging)) : worstOver(layers),
    outputs: [],
    worst: [],
    table: judged ? tabulateJudged(judged) : tabulate(layers),
    measurements: {
      ...chosen,
      ...describeSide('reference', runs[0]!, versions[0]!, timing),
      ...describeSide('target', runs[1]!, versions[1]!, timing),
    },
  }
}

interface NamedLayers {
  readonly layers: readonly MeasuredLayer[]
  /** null: nothing is judged. */
  readonly judged: readonly JudgedLayer[] | null
}

/** Layers are run alone by the names that they have, and told by those that were asked for. */
async function judgeNamed(
  { path, names }: LayersCase,
  layers: readonly MeasuredLayer[],
  judging: LayerJudging | null,
): Promise<NamedLayers> {
  const rename = names === 'fms' ? fmsNamesOf(path) : null
  if (!rename) return { layers, judged: judging && (await judgeLayers(layers, judging)) }
  const named = renameLayers(layers, rename)
  const judged = judging && (await judgeLayers(layers, limitsByBoth(judging, rename)))
  const renamed = judged?.map((one) => renameJudged(one, named.get(one.layer)!, rename)) ?? null
  return { layers: [...named.values()], judged: renamed }
}

type Found = Pick<Judgement, 'verdict' | 'reason' | 'coverage'>

/** What a worker says against its run takes away the proof. */
function doubt({ verdict, reason, coverage }: Found, warnings: readonly string[]): Found {
  const text = `${reason}; a worker warned: ${warnings[0]}`
  return { verdict: verdict === 'pass' ? 'inconclusive' : verdict, reason: text, coverage }
}

/** Nothing is judged. */
function describeMeasured(layers: readonly MeasuredLayer[]): Found {
  const measured = layers.filter(({ sums }) => sums !== null).length
  const coverage = { compared: measured, expected: layers.length }
  return { verdict: 'captured', reason: summarise(measured, layers), coverage }
}

function withLimits(worst: readonly Metric[], judged: readonly Metric[]): Metric[] {
  return worst.map((metric) => judged.find(({ name }) => name === metric.name) ?? metric)
}

function summarise(measured: number, layers: readonly MeasuredLayer[]): string {
  const all = layers.length
  if (measured < all) return `measured ${measured} of ${all} layers; ${LAYERS_FILE} says why not the others`
  const steps = new Set(layers.map(({ step }) => step)).size
  const names = new Set(layers.map(({ name }) => name)).size
  return steps === 1 ? `measured ${all} layers` : `measured ${names} layers at ${steps} steps`
}

async function keep(
  c: LayersCase,
  layers: readonly MeasuredLayer[],
  judged: readonly JudgedLayer[] | null,
  lab: Lab,
): Promise<string> {
  const { model, mode, reference, target } = c
  const found = new Map(judged?.map((one) => [one.layer, one]))
  const rows = layers.map((layer) => rowOf(layer, found.get(layer)))
  const content = { model, mode, reference: reference!, target, layers: rows }
  const { folder } = await lab.step({ title: 'list the layers', stage: 'compare', key: null }, async (place) => {
    await writeLayersFile(join(place, LAYERS_FILE), content)
    return {}
  })
  const path = join(folder, LAYERS_FILE)
  await lab.keep(LAYERS_FILE, path)
  return path
}

async function copyNew(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw explainWriteError(error, to)
  }
}

function rowOf(layer: MeasuredLayer, judged: JudgedLayer | undefined): LayerRow {
  const { name, step, reference, target, sums, metrics, problem } = layer
  return {
    name,
    step,
    shape: [...shapeOf(layer)],
    reference: reference?.dtype ?? null,
    target: target?.dtype ?? null,
    count: sums?.count ?? 0,
    metrics: Object.fromEntries(metrics.map((metric) => [metric.name, metric.value])),
    ...(problem !== undefined && { problem }),
    ...(judged && { judged: describeJudged(judged) }),
  }
}

function describeJudged({ standing, origin }: JudgedLayer): NonNullable<LayerRow['judged']> {
  const checks = 'checks' in standing ? standing.checks : []
  return {
    standing: standing.kind,
    limits: Object.fromEntries(checks.map(({ metric, limit }) => [metric.name, limit])),
    ...('why' in standing && { why: standing.why }),
    ...(origin && { origin: originText(origin) }),
  }
}

/** The largest error and the smallest likeness of all layers. */
function worstOver(layers: readonly MeasuredLayer[]): Metric[] {
  const names = new Set(layers.flatMap(({ metrics }) => metrics.map(({ name }) => name)))
  return [...names].map((name) => {
    const found = layers.flatMap(({ metrics }) => metrics.find((metric) => metric.name === name) ?? [])
    return found.reduce((worst, metric) => (isWorse(metric, worst) ? metric : worst))
  })
}

function isWorse(a: Metric, b: Metric): boolean {
  if (a.value === null || b.value === null) return b.value === null && a.value !== null
  return a.direction === 'lower' ? a.value > b.value : a.value < b.value
}

const COLUMNS = ['rel_l2', 'max_abs', 'cosine']

/** In the order in which the reference computes them. */
function tabulate(layers: readonly MeasuredLayer[]): FigureTable {
  const worst = [...layers].sort((a, b) => badness(b) - badness(a)).slice(0, SHOWN)
  const shown = layers.filter((layer) => worst.includes(layer))
  const rows = shown.map((layer) => [
    nameWithStep(layer),
    ...COLUMNS.map((name) => shownValue(layer, name)),
    remark(layer),
  ])
  const title = layers.length > rows.length ? `furthest off of ${layers.length} layers` : 'layers'
  return { head: [title, ...COLUMNS, ''], rows }
}

/** What cannot be measured is further off than any number. */
function badness(layer: MeasuredLayer): number {
  if (layer.problem !== undefined || findValue(layer, 'nonfinite_mismatch')) return Infinity
  return findValue(layer, 'rel_l2') ?? -1
}

function remark(layer: MeasuredLayer): string {
  const mismatched = findValue(layer, 'nonfinite_mismatch')
  return layer.problem ?? (mismatched ? `${mismatched} values are not finite on one side alone` : '')
}

function shownValue(layer: MeasuredLayer, name: string): string {
  const value = findValue(layer, name)
  return value === null ? 'not measured' : formatNumber(value)
}

function describeSide(side: string, run: JointRun, version: string, timing: MeasuredRun['timing']) {
  const warned = run.warnings.length > 0 && { warnings: run.warnings.join('\n') }
  const facts = { version, ...run.detail, [timing]: run.durationsMs.run, ...warned }
  return Object.fromEntries(Object.entries(facts).map(([key, value]) => [`${side}.${key}`, value]))
}
