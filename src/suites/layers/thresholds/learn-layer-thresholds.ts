import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { groupBy } from '../../../domain/group.ts'
import { unknown } from '../../../domain/suggest.ts'
import { modelInNames } from '../../../files/formats/metric-prefix.ts'
import { writeDocumentedJson } from './documented-json.ts'
import { type DocumentedLayer, documentLayers } from './documented-values.ts'
import { type FoundLayers, findLayerFiles, type MeasuredLayers } from './find-layer-files.ts'
import type { LayerSample } from './layer-samples.ts'
import { type LayerThresholds, layerThresholdsPath, writeLayerThresholds } from './layer-thresholds.ts'
import { learnLimits } from './learn-limits.ts'

export interface LayerThresholdsRequest {
  /** Where paths begin. */
  readonly cwd: string
  readonly runsFolder: string
  /** Empty: every model that was measured. */
  readonly models: readonly string[]
  readonly metrics: readonly string[]
  /** undefined: the last run that measured layers. */
  readonly metricsFolder: string | undefined
  /** undefined: where the files are. */
  readonly outputFolder: string | undefined
  /** Also writes the file as the other tool does. */
  readonly documented: boolean
  /** The machine and the versions, for the file. */
  readonly machine: Readonly<Record<string, string>>
}

export interface LearntLayers {
  /** As names of files spell it. */
  readonly model: string
  readonly place: string
  readonly files: number
  readonly thresholds: LayerThresholds
  readonly documented: readonly DocumentedLayer[]
  /** What is odd about the files. */
  readonly notes: readonly string[]
  /** Of the files that were written. */
  readonly paths: readonly string[]
}

/** Pools what was measured of each model and writes its limits. */
export async function learnLayerThresholds(request: LayerThresholdsRequest): Promise<LearntLayers[]> {
  const found = await findLayerFiles(request.metricsFolder, request)
  const folder = resolve(request.cwd, request.outputFolder ?? found.folder)
  refuseNoFolder(folder)
  const learnt: Omit<LearntLayers, 'paths'>[] = []
  for (const [model, measured] of chooseModels(request.models, found)) {
    learnt.push(await learnModel(model, measured, found.place, request))
  }
  return Promise.all(learnt.map(async (one) => ({ ...one, paths: await writeLearnt(folder, one, request) })))
}

function refuseNoFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  throw new UsageError('output', `${folder} is not a folder; create it first, or give another one with --output`)
}

/** Exactly those that were asked for: `org/m` never takes what was measured of `org/m-big`. */
function chooseModels(
  asked: readonly string[],
  { measured, place }: FoundLayers,
): ReadonlyMap<string, readonly MeasuredLayers[]> {
  const found = groupBy(measured, ({ model }) => model)
  if (asked.length === 0) return found
  return new Map(
    asked.map((model) => {
      const name = nameOf(model, [...found.keys()])
      if (name === null) throw unknown('model', `model "${model}" in ${place}`, modelInNames(model), [...found.keys()])
      return [name, found.get(name)!]
    }),
  )
}

/** A folder may be known by the end of its path alone. */
function nameOf(model: string, names: readonly string[]): string | null {
  const spelt = modelInNames(model)
  if (names.includes(spelt)) return spelt
  const ends = names.filter((name) => spelt.endsWith(`--${name}`))
  return ends.sort((a, b) => b.length - a.length)[0] ?? null
}

async function learnModel(
  model: string,
  measured: readonly MeasuredLayers[],
  place: string,
  { machine }: LayerThresholdsRequest,
): Promise<Omit<LearntLayers, 'paths'>> {
  refuseMixed(measured)
  const read: (readonly LayerSample[])[] = []
  for (const one of measured) read.push(await one.read())
  const samples = read.flat()
  if (samples.length === 0) throw new UsageError('metrics', `no layer of ${model} was measured; measure it again`)
  const origin = measured.find((one) => one.origin !== null)?.origin
  const thresholds = {
    model: origin?.model ?? model,
    mode: origin?.mode ?? null,
    reference: origin?.reference ?? null,
    baseline: origin?.target ?? null,
    created: new Date().toISOString(),
    environment: machine,
    layers: learnLimits(samples),
  }
  const files = measured.reduce((sum, one) => sum + one.files, 0)
  return { model, place, files, thresholds, documented: documentLayers(samples), notes: noteGaps(measured, read) }
}

/** Limits are of one baseline. */
function refuseMixed(measured: readonly MeasuredLayers[]): void {
  const [first, ...others] = measured
  for (const key of ['mode', 'reference', 'target'] as const) {
    const of = ({ origin }: MeasuredLayers) => origin?.[key] ?? 'not recorded'
    const other = others.find((one) => of(one) !== of(first!))
    if (!other) continue
    const both = `the ${key} of ${first!.from} is ${of(first!)}, and of ${other.from} ${of(other)}`
    throw new UsageError('metrics', `${both}; give one of the files with --metrics-dir, or a folder for each`)
  }
}

/** Layers that one measurement has and another has not, and metrics that only some have. */
function noteGaps(measured: readonly MeasuredLayers[], read: readonly (readonly LayerSample[])[]): string[] {
  const all = new Set(read.flat().map(({ name }) => name))
  const gaps = measured.flatMap(({ from }, i) => {
    const own = new Set(read[i]!.map(({ name }) => name))
    const missing = [...all].filter((name) => !own.has(name))
    return missing.length === 0 ? [] : [`${from} has ${own.size} of ${all.size} layers; ${listSome(missing)} missing`]
  })
  return gaps
}

const SHOWN = 3

function listSome(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more are` : names.length > 1 ? ' are' : ' is'
  return `${names.slice(0, SHOWN).join(', ')}${more}`
}

async function writeLearnt(
  folder: string,
  { model, thresholds, documented }: Omit<LearntLayers, 'paths'>,
  { metrics, documented: isAsked }: LayerThresholdsRequest,
): Promise<string[]> {
  const path = layerThresholdsPath(folder, model)
  await writeLayerThresholds(path, thresholds)
  return isAsked ? [path, await writeDocumentedJson(folder, model, documented, metrics)] : [path]
}
