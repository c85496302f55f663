import { basename } from 'node:path'
import { FormatError } from '../../../domain/errors.ts'
import { groupBy } from '../../../domain/group.ts'
import { elementCount } from '../../../domain/tensor.ts'
import type { LayerSample, Pooled } from '../thresholds/layer-samples.ts'
import type { CsvMetric, LayerCsvName } from './csv-names.ts'
import { type LayerCsv, readLayerCsv } from './read-layer-csv.ts'

export interface LayerCsvFile extends LayerCsvName {
  readonly path: string
}

/** What was read of a layer in one call. */
type CallFiles = { readonly [Metric in CsvMetric]?: LayerCsv }

/** What the files of one measurement say of every call of every layer, in an order that the folder does not decide. */
export async function readCsvSamples(files: readonly LayerCsvFile[]): Promise<LayerSample[]> {
  const calls = groupBy([...files].sort(byCall), ({ layer, iteration }) => `${iteration} ${layer}`)
  const samples: LayerSample[] = []
  for (const call of calls.values()) {
    const read: { [Metric in CsvMetric]?: LayerCsv } = {}
    for (const { metric, path } of call) read[metric] = await readLayerCsv(path, metric)
    samples.push(sampleCall(call[0]!.layer, read))
  }
  return samples
}

/** `layers2` stands before `layers10`. */
const NAMES = new Intl.Collator('en', { numeric: true })

function byCall(a: LayerCsvFile, b: LayerCsvFile): number {
  return (
    NAMES.compare(a.layer, b.layer) || (a.layer < b.layer ? -1 : Number(a.layer > b.layer)) || a.iteration - b.iteration
  )
}

function sampleCall(name: string, { abs_diff: differences, cos_sim: cosines }: CallFiles): LayerSample {
  const shape = differences?.shape ?? cosines?.shape ?? null
  const isBySign = cosines !== undefined && holdsSigns(cosines, differences)
  if (isBySign && isOnlyZeros(cosines) && (!differences || isOnlyZeros(differences))) {
    return { name, shape, metrics: {}, squares: ONLY_ZEROS, signs: ONLY_ZEROS, rows: ONLY_ZEROS }
  }
  const likeness = cosines ? poolCosines(cosines, isBySign) : NO_COSINES
  const squares = differences ? poolSquares(differences) : { why: 'there is no abs_diff file of it' }
  return {
    name,
    shape,
    metrics: { ...differenceMetrics(differences, squares), ...cosineMetrics(cosines, likeness, isBySign) },
    squares,
    signs: cosines && !isBySign ? { why: 'its cos_sim file holds cosines of rows and no signs' } : likeness,
    rows: isBySign ? { why: 'its cos_sim file holds signs of elements and no cosines' } : likeness,
  }
}

/** What the other tool gives for a tuple is no perfect agreement. */
const ONLY_ZEROS = { why: 'its files hold only zeros, which the other tool writes for tuples without comparing them' }

const isOnlyZeros = ({ count, squares, nonFinite }: LayerCsv) => count > 0 && squares === 0 && nonFinite === 0

const NO_COSINES: Pooled = { why: 'there is no cos_sim file of it' }

/**
 * The version that the document is of compares element with element, which gives the product of their signs. Later ones
 * give a cosine for each row.
 */
function holdsSigns(cosines: LayerCsv, differences: LayerCsv | undefined): boolean {
  const elements = differences?.count ?? (cosines.shape && elementCount(cosines.shape))
  if (elements === null || elements === 0) return !cosines.hasShapes
  if (elements % cosines.count !== 0) {
    const found = `${basename(cosines.path)} has ${cosines.count} values for ${elements} elements`
    throw new FormatError('csv', `${found}; one of the files of this layer was cut: measure again`)
  }
  return elements === cosines.count && !(cosines.hasShapes && (cosines.shape?.at(-1) ?? 0) === 1)
}

function poolSquares({ squares, count, nonFinite }: LayerCsv): Pooled {
  return nonFinite > 0 ? { why: `${nonFinite} of ${count} values of abs_diff are not finite` } : { sum: squares, count }
}

/** A row of zeros has no cosine, and is left out; signs that are not finite are of elements that are not. */
function poolCosines({ sum, count, nonFinite }: LayerCsv, isBySign: boolean): Pooled {
  const finite = count - nonFinite
  if (nonFinite > 0 && (isBySign || finite === 0)) {
    return { why: `${nonFinite} of ${count} values of cos_sim are not finite` }
  }
  return { sum, count: finite }
}

function differenceMetrics(file: LayerCsv | undefined, squares: Pooled): LayerSample['metrics'] {
  if (!file) return {}
  if ('why' in squares || squares.count === 0) return { mean_abs: null, max_abs: null, l2: null, rmse: null }
  const { count, sum, most } = file
  return { mean_abs: sum / count, max_abs: most, l2: Math.sqrt(squares.sum), rmse: Math.sqrt(squares.sum / count) }
}

function cosineMetrics(file: LayerCsv | undefined, likeness: Pooled, isBySign: boolean): LayerSample['metrics'] {
  if (!file) return {}
  const mean = 'why' in likeness || likeness.count === 0 ? null : atMostOne(likeness.sum / likeness.count)
  if (isBySign) return { sign_agreement: mean }
  return { row_cosine: mean, least_row_cosine: mean === null ? null : atMostOne(file.least) }
}

/** Cosines that were computed in half precision may be larger. */
const atMostOne = (cosine: number) => Math.max(-1, Math.min(1, cosine))
