import { join, relative } from 'node:path'
import { cleanText, formatBytes } from '../../../domain/text.ts'
import { type MetricShape, metricPrefix } from '../../../files/formats/metric-prefix.ts'
import type { Notice } from '../../contract.ts'
import { declaredPrecision } from '../../tensors/rules.ts'
import { LAYERS_FILE } from '../layers-file.ts'
import type { LayersCase, LayersSuiteContext } from '../suite.ts'
import { LayerCsvFolder } from './layer-csv-folder.ts'
import { boundFiles } from './layer-csv-writer.ts'

/** Shapes of everything that one side gives: in the first step, and in each of those after it. */
export interface StepShapes {
  readonly first: readonly (readonly number[])[]
  readonly later: readonly (readonly number[])[]
  readonly laterSteps: number
}

/** null: nobody asked for CSV files. */
export function openCsv(
  { model, underTest }: LayersCase,
  shape: Omit<MetricShape, 'dtype'>,
  { csv, cwd, notice }: LayersSuiteContext,
): CaseCsv | null {
  if (csv === undefined) return null
  const prefix = metricPrefix(model, { ...shape, dtype: declaredPrecision(underTest) ?? 'float32' })
  return new CaseCsv({ folder: csv, prefix, shown: relative(cwd, csv) || '.' }, (text) => notice(`${model}: ${text}`))
}

interface CsvPlace {
  readonly folder: string
  readonly prefix: string
  /** The folder, for people. */
  readonly shown: string
}

/** The CSV files of a case: says how much they are before there are any, and afterwards what became of them. */
export class CaseCsv {
  readonly files: LayerCsvFolder
  /** Beside them, where it says more than they do. */
  readonly listPath: string
  readonly #shown: string
  readonly #notice: Notice

  constructor({ folder, prefix, shown }: CsvPlace, notice: Notice) {
    this.files = new LayerCsvFolder(folder, prefix)
    this.listPath = join(folder, `${prefix}.${LAYERS_FILE}`)
    this.#shown = cleanText(shown)
    this.#notice = notice
  }

  async announce(see: () => Promise<StepShapes>): Promise<void> {
    const { first, later, laterSteps } = await see()
    const bounds = [
      ...first.map((shape) => boundFiles(shape, 1)),
      ...later.map((shape) => boundFiles(shape, laterSteps)),
    ]
    const total = (of: 'files' | 'bytes') => bounds.reduce((sum, bound) => sum + bound[of], 0)
    const size = formatBytes(total('bytes'))
    this.#notice(`writes ${total('files')} CSV files, at most about ${size}, to ${this.#shown}`)
  }

  finish(): void {
    const { written, kept } = this.files.finish()
    if (kept === 0) return
    this.#notice(`wrote ${written} CSV files; ${kept} were in ${this.#shown} already and stay as they were`)
  }
}

/** Nothing is left of files that are not whole. */
export async function writeWhile<T>(csv: CaseCsv | null, measure: () => Promise<T>): Promise<T> {
  try {
    const measured = await measure()
    csv?.finish()
    return measured
  } finally {
    csv?.files.remove()
  }
}
