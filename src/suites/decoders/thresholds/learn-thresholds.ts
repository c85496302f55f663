import { existsSync, statSync } from 'node:fs'
import { basename, relative, resolve } from 'node:path'
import { quantileInterval } from '../../../compare/statistics/binomial.ts'
import { percentile, sorted } from '../../../compare/statistics/percentile.ts'
import type { Environment } from '../../../domain/environment.ts'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { unknown } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { type MetricShape, modelInNames } from '../../../files/formats/metric-prefix.ts'
import type { MetricName } from '../gates/contract.ts'
import { findMetricFiles, type MetricFile, readMetricFile, trimMetric } from '../store/metric-files.ts'
import { compareModels, type ModelDigests, modelDigestsIn } from '../store/model-digests.ts'
import { readSequences, SEQUENCES_ENDING, type SequencesFile } from '../store/sequences-file.ts'
import { type Threshold, type ThresholdsFile, writeThresholds } from '../store/thresholds-file.ts'
import { earlierThresholds, replacedText, sortEarlier } from './earlier-thresholds.ts'

/** Documented: the 99th percentile of all tokens. */
const PERCENT = 99
const CONFIDENCE = 0.95

export interface ThresholdsRequest {
  /** Where paths begin. */
  readonly cwd: string
  readonly environment: Environment
  /** Empty: every model of the folder. */
  readonly models: readonly string[]
  readonly metrics: readonly MetricName[]
  readonly metricsFolder: string
  readonly outputFolder: string
  /** The machine and the versions, for the file. */
  readonly machine: Readonly<Record<string, string>>
}

export interface LearntThresholds {
  /** As names of files spell it. */
  readonly model: string
  readonly thresholds: ThresholdsFile
  /** How many metric files each metric was pooled from. */
  readonly files: number
  /** Metrics that nobody asked for: the earlier file had them, so they were learnt again. */
  readonly kept: readonly MetricName[]
  /** Why the earlier file, or a metric of it, is gone; null: nothing is. */
  readonly replaced: string | null
  readonly path: string
}

/** Pools the metric files of each model and writes the thresholds. */
export async function learnThresholds(request: ThresholdsRequest): Promise<LearntThresholds[]> {
  const { cwd, metricsFolder } = request
  const all = findMetricFiles(metricsFolder, cwd)
  refuseNoFolder(request)
  const folder = resolve(cwd, request.outputFolder)
  const models = await modelsOf(request, all)
  const learnt: Omit<LearntThresholds, 'path'>[] = []
  for (const [model, given] of models) learnt.push(await learnWithEarlier(model, given, all, request))
  const written: LearntThresholds[] = []
  for (const one of learnt) written.push({ ...one, path: await writeThresholds(folder, one.thresholds) })
  return written
}

/** Keeps further metrics of an earlier file: they are learnt again, so that all are of one measurement. */
async function learnWithEarlier(
  model: string,
  given: string,
  all: readonly MetricFile[],
  request: ThresholdsRequest,
): Promise<Omit<LearntThresholds, 'path'>> {
  const asked = await learnModel(model, given, all, request)
  const earlier = await earlierThresholds(resolve(request.cwd, request.outputFolder), asked.thresholds)
  const { kept, lost } = sortEarlier(earlier, model, all, request.metrics)
  if (kept.length === 0) return { ...asked, kept, replaced: replacedText(earlier, lost) }
  const both = await learnModel(model, given, all, { ...request, metrics: [...request.metrics, ...kept] })
  return { ...both, kept, replaced: replacedText(earlier, lost) }
}

function refuseNoFolder({ cwd, outputFolder: folder }: ThresholdsRequest): void {
  if (statSync(resolve(cwd, folder), { throwIfNoEntry: false })?.isDirectory()) return
  throw new UsageError('output', `${folder} is not a folder; create it first, or give another one with --output`)
}

/** Exactly the models that were asked for, as they stand in names, with how they were written. */
async function modelsOf(request: ThresholdsRequest, all: readonly MetricFile[]): Promise<Map<string, string>> {
  const { models, metricsFolder } = request
  const found = [...new Set(all.map(({ model }) => model))]
  if (found.length === 0) {
    const names = '<model>_max-new-tokens-N_batch-size-B_seq-length-S_dtype-D.<metric>.csv'
    throw new UsageError('metrics', `no metric files in ${metricsFolder}; they are named ${names}`)
  }
  const names = new Map<string, string>()
  for (const model of models.length > 0 ? models : found) {
    const spelt = modelInNames(model)
    const name = found.includes(spelt) ? spelt : await nameByContent(model, request, all)
    if (name === null) throw unknown('model', `model "${model}" in ${metricsFolder}`, spelt, found)
    names.set(name, model)
  }
  return names
}

/** The same folder may be called otherwise than when it was measured; null: no files are of this model. */
async function nameByContent(
  model: string,
  { cwd, environment, metricsFolder }: ThresholdsRequest,
  all: readonly MetricFile[],
): Promise<string | null> {
  // Reads models, which is needed for nothing else here.
  const { localModelDigests } = await import('./local-model.ts')
  const own = await localModelDigests(model, cwd, environment)
  if (own === null) return null
  const same = new Set<string>()
  for (const [prefix, { model: name }] of new Map(all.map((file) => [trimMetric(file.path), file]))) {
    const sequences = await sequencesAt(prefix)
    if (sequences && compareModels(modelDigestsIn(sequences.digests), own).isSame) same.add(name)
  }
  if (same.size > 1) {
    const names = [...same].join(' and ')
    throw new UsageError('model', `${names} in ${metricsFolder} are both for ${model}; name one of them with --model`)
  }
  return [...same][0] ?? null
}

async function sequencesAt(prefix: string): Promise<SequencesFile | null> {
  const path = `${prefix}${SEQUENCES_ENDING}`
  return existsSync(path) ? await readSequences(path) : null
}

interface ShapeFiles {
  readonly shape: MetricShape
  readonly metrics: Readonly<Partial<Record<MetricName, Float64Array>>>
  readonly sequencesPath: string | null
  readonly sequences: SequencesFile | null
}

async function learnModel(
  model: string,
  given: string,
  all: readonly MetricFile[],
  { metrics, cwd, outputFolder, machine }: ThresholdsRequest,
): Promise<Omit<LearntThresholds, 'path' | 'kept' | 'replaced'>> {
  const own = all.filter((file) => file.model === model)
  const shapes: ShapeFiles[] = []
  for (const prefix of new Set(own.map(({ path }) => trimMetric(path)))) {
    const files = own.filter(({ path }) => trimMetric(path) === prefix)
    shapes.push(await readShape(prefix, files, metrics))
  }
  shapes.sort((a, b) => bySize(a.shape, b.shape))
  const origin = originOf(shapes)
  const pooled = Object.fromEntries(
    metrics.map((metric) => [metric, thresholdOf(shapes.flatMap((shape) => Array.from(shape.metrics[metric] ?? [])))]),
  )
  const thresholds = {
    model: origin?.model ?? given,
    ...digestsOf(shapes),
    reference: origin?.reference ?? null,
    baseline: origin?.baseline ?? null,
    metrics: pooled,
    shapes: shapes.map((shape) => shapeThresholds(shape, resolve(cwd, outputFolder))),
    dataset: origin?.dataset ?? null,
    created: new Date().toISOString(),
    environment: machine,
  }
  return { model, thresholds, files: shapes.length }
}

function bySize(a: MetricShape, b: MetricShape): number {
  const keys = ['batchSize', 'promptLength', 'newTokens'] as const
  return keys.map((key) => a[key] - b[key]).find((difference) => difference !== 0) ?? 0
}

/** All metrics of a shape were measured on the same tokens; files that contradict that are of different runs. */
async function readShape(
  prefix: string,
  files: readonly MetricFile[],
  metrics: readonly MetricName[],
): Promise<ShapeFiles> {
  const values: Partial<Record<MetricName, Float64Array>> = {}
  for (const metric of metrics) values[metric] = await readMetricFile(fileOf(prefix, files, metric))
  const sequences = await sequencesAt(prefix)
  const counts = Object.entries(values).map(([metric, numbers]): [string, number] => [`${metric}.csv`, numbers.length])
  if (sequences) counts.push(['sequences.json', sequences.sequences.reduce((sum, { kept }) => sum + kept, 0)])
  const odd = counts.find(([, count]) => count !== counts[0]![1])
  if (odd) {
    const [[name, count] = ['', 0]] = counts
    const found = `${count} tokens in ${basename(prefix)}.${name} and ${odd[1]} in its ${odd[0]}`
    throw new FormatError('metrics', `${found}: they come from different runs; measure this shape again`)
  }
  return {
    shape: files[0]!.shape,
    metrics: values,
    sequencesPath: sequences && `${prefix}${SEQUENCES_ENDING}`,
    sequences,
  }
}

function fileOf(prefix: string, files: readonly MetricFile[], metric: MetricName): MetricFile {
  const file = files.find((one) => one.metric === metric)
  if (file) return file
  const others = files.map((one) => one.metric).join(', ')
  const advice = `measure this shape again, or leave ${metric} out of --metrics`
  throw new UsageError('metrics', `${prefix}.${metric}.csv is not there, only ${others}; ${advice}`)
}

/** Where the values come from, if the files say so; several answers are none. */
function originOf(shapes: readonly ShapeFiles[]): SequencesFile | null {
  const [first, ...others] = shapes.flatMap(({ sequences }) => sequences ?? [])
  if (!first) return null
  for (const key of ['reference', 'baseline', 'dataset'] as const) {
    const other = others.find((file) => file[key] !== first[key])
    if (!other) continue
    const both = `"${first[key]}" and "${other[key]}"`
    throw new UsageError('metrics', `shapes were measured with the ${key} ${both}; keep them in different folders`)
  }
  for (const other of others) refuseOther(first, other)
  return first
}

/** A model may change under its name between two measurements. */
function refuseOther(one: SequencesFile, other: SequencesFile): void {
  const { differs } = compareModels(modelDigestsIn(one.digests), modelDigestsIn(other.digests))
  if (differs === null) return
  const when = `on ${one.created} and on ${other.created}`
  throw new UsageError(
    'metrics',
    `shapes were measured with different models named "${cleanText(one.model)}", ${when}: ${differs} differs; measure them again`,
  )
}

/** What is known of the model by content; absent: nothing. */
function digestsOf(shapes: readonly ShapeFiles[]): { readonly digests?: ModelDigests } {
  const found = shapes.flatMap(({ sequences }) => (sequences ? [modelDigestsIn(sequences.digests)] : []))
  const digests: ModelDigests = Object.assign({}, ...found)
  return Object.keys(digests).length === 0 ? {} : { digests }
}

function thresholdOf(values: readonly number[]): Threshold {
  const numbers = sorted(values)
  const value = percentile(numbers, PERCENT)
  if (value === null) throw new FormatError('metrics', 'there are no values; measure again')
  const interval = quantileInterval(numbers, PERCENT / 100, CONFIDENCE)
  return { direction: 'lower', value, statistic: `p${PERCENT}`, count: numbers.length, interval }
}

function shapeThresholds({ shape, metrics, sequencesPath }: ShapeFiles, folder: string): ThresholdsFile['shapes'][0] {
  const learnt = Object.entries(metrics).map(([metric, values]) => [metric, thresholdOf(Array.from(values))])
  const sequences = sequencesPath === null ? null : relative(folder, sequencesPath)
  return { ...shape, metrics: Object.fromEntries(learnt), sequences }
}
