import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { groupBy } from '../../../domain/group.ts'
import { suggest } from '../../../domain/suggest.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import { modelInNames } from '../../../files/formats/metric-prefix.ts'
import { artifactPath } from '../../../runs/record/artifacts.ts'
import { findRun } from '../../../runs/record/find-run.ts'
import { listRuns, readRun, type StoredRun } from '../../../runs/record/read-run.ts'
import { HEADER_FILE } from '../../../runs/record/record.ts'
import { parseLayerCsvName } from '../csv/csv-names.ts'
import { type LayerCsvFile, readCsvSamples } from '../csv/csv-samples.ts'
import { LAYERS_FILE, type LayersFile, readLayersFile } from '../layers-file.ts'
import { type LayerSample, sampleRow } from './layer-samples.ts'

/** What was measured of a model at one time. */
export interface MeasuredLayers {
  /** As names of files spell it. */
  readonly model: string
  /** What it was read from. */
  readonly from: string
  readonly files: number
  /** null: CSV files do not say. */
  readonly origin: Pick<LayersFile, 'model' | 'mode' | 'reference' | 'target'> | null
  read(): Promise<readonly LayerSample[]>
}

export interface FoundLayers {
  /** Where they lie, for people. */
  readonly place: string
  /** Where to write what is learnt from them. */
  readonly folder: string
  readonly measured: readonly MeasuredLayers[]
}

interface RunPlaces {
  readonly cwd: string
  readonly runsFolder: string
}

/** Of a folder with CSV files or files of layers, of such a file, or of a run; undefined: of the last run that has some. */
export async function findLayerFiles(given: string | undefined, places: RunPlaces): Promise<FoundLayers> {
  if (given === undefined) return foundInRun(await lastMeasured(places.runsFolder), places)
  const path = resolve(places.cwd, given)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isFile()) return { place: given, folder: dirname(path), measured: [await measuredInFile(path)] }
  const run = stat && !existsSync(join(path, HEADER_FILE)) ? null : await findRun(given, places)
  if (run) return foundInRun(run, places)
  if (!stat) {
    const hint = suggest(nearFile(given, places.cwd), 'give a folder of CSV files, or a run of assay layers')
    throw new UsageError('metrics', `there is no folder ${given}; ${hint}`)
  }
  return foundInFolder(path, given)
}

async function foundInFolder(path: string, given: string): Promise<FoundLayers> {
  const own = await measuredIn(path)
  if (own.length > 0) return { place: given, folder: path, measured: own }
  // The document writes files into a folder for each model, and reads them from the one above.
  const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const below = await Promise.all(folders.map(({ name }) => measuredIn(join(path, name))))
  const measured = below.flat()
  if (measured.length > 0) return { place: `folders of ${given}`, folder: path, measured }
  const names = '<model>_max-new-tokens-N_batch-size-B_seq-length-S_dtype-D--<layer>.abs_diff.csv'
  throw new UsageError('metrics', `no metrics of layers in ${given}; files are named ${names}, or ${LAYERS_FILE}`)
}

/** What was measured here is read instead of its CSV files, because it says more. */
async function measuredIn(folder: string): Promise<MeasuredLayers[]> {
  const names = readdirSync(folder).sort()
  const kept = names.filter((name) => name === LAYERS_FILE || name.endsWith(`.${LAYERS_FILE}`))
  const files = names.flatMap((name): LayerCsvFile[] => {
    const parsed = parseLayerCsvName(name)
    return parsed && !kept.includes(`${parsed.prefix}.${LAYERS_FILE}`) ? [{ ...parsed, path: join(folder, name) }] : []
  })
  const measured = [...groupBy(files, ({ prefix }) => prefix).values()].map(measuredByCsv)
  return [...(await Promise.all(kept.map((name) => measuredInFile(join(folder, name))))), ...measured]
}

function measuredByCsv(files: readonly LayerCsvFile[]): MeasuredLayers {
  const { model, prefix } = files[0]!
  return { model, from: `${prefix}--….csv`, files: files.length, origin: null, read: () => readCsvSamples(files) }
}

async function measuredInFile(path: string): Promise<MeasuredLayers> {
  const { layers, ...origin } = await readLayersFile(path)
  const model = modelInNames(origin.model)
  return { model, from: basename(path), files: 1, origin, read: async () => layers.map(sampleRow) }
}

async function lastMeasured(runsFolder: string): Promise<StoredRun> {
  for (const folder of (await listRuns(runsFolder)).reverse()) {
    const run = await readRun(folder)
    if (layerFilesOf(run).length > 0) return run
  }
  const advice = 'assay layers makes one, --metrics-dir names a folder of CSV files'
  throw new UsageError('run', `no run has measured layers yet; ${advice}`)
}

function layerFilesOf({ results }: StoredRun) {
  return results.flatMap(({ artifacts }) => artifacts.filter(({ name }) => name === LAYERS_FILE))
}

async function foundInRun(run: StoredRun, { cwd }: RunPlaces): Promise<FoundLayers> {
  const artifacts = layerFilesOf(run)
  const place = `run ${run.header.id}`
  if (artifacts.length === 0) throw new UsageError('run', `${place} measured no layers; assay layers does`)
  const paths = await Promise.all(artifacts.map((artifact) => artifactPath(artifact, run.folder)))
  return { place, folder: cwd, measured: await Promise.all(paths.map(measuredInFile)) }
}
