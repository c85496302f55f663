import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DTYPES } from '../../../domain/dtype.ts'
import { UsageError } from '../../../domain/errors.ts'
import type { TensorSpec } from '../../../domain/tensor.ts'
import { explainWriteError } from '../../../files/disk/atomic.ts'
import { ulid } from '../../../files/disk/ulid.ts'
import type { ElementSink, ElementWriter } from '../paired-streams.ts'
import { type CsvMetric, layerCsvName } from './csv-names.ts'
import { LayerCsvWriter } from './layer-csv-writer.ts'

/** What became of the files of a case. */
export interface WrittenCsv {
  readonly written: number
  /** They were there before, and files are never written over. */
  readonly kept: number
}

/** Most file systems take names of so many bytes. */
const LONGEST_NAME = 255

/** CSV files of one case; they get their place in the folder when all are whole. */
export class LayerCsvFolder {
  readonly #folder: string
  readonly #prefix: string
  readonly #temporary: string
  readonly #open = new Set<ElementWriter>()

  constructor(folder: string, prefix: string) {
    this.#folder = folder
    this.#prefix = prefix
    this.#temporary = join(folder, `.layers-${ulid()}.tmp`)
  }

  /** Whatever an earlier attempt wrote is gone. */
  start(): void {
    this.remove()
    try {
      mkdirSync(this.#temporary, { recursive: true })
    } catch (error) {
      throw explainWriteError(error, this.#folder)
    }
  }

  /** Writes the elements of a step. */
  sinkOf(step: number): ElementSink {
    return { begin: (reference, target, elements) => this.#begin(step, reference, target, elements) }
  }

  /** Moves what is new to its place. */
  finish(): WrittenCsv {
    const names = readdirSync(this.#temporary)
    const added = names.filter((name) => !existsSync(join(this.#folder, name)))
    for (const name of added) renameSync(join(this.#temporary, name), join(this.#folder, name))
    this.remove()
    return { written: added.length, kept: names.length - added.length }
  }

  /** Leaves nothing of files that are not whole. */
  remove(): void {
    for (const writer of this.#open) writer.end()
    this.#open.clear()
    if (existsSync(this.#temporary)) rmSync(this.#temporary, { recursive: true })
  }

  #begin(step: number, reference: TensorSpec, target: TensorSpec, elements: number): ElementWriter | null {
    if (DTYPES[reference.dtype].kind === 'complex') return null
    const pathOf = (metric: CsvMetric) => join(this.#temporary, nameOf(this.#prefix, reference.name, step, metric))
    const tensor = { reference: reference.dtype, target: target.dtype, shape: reference.shape, elements }
    const writer = new LayerCsvWriter(tensor, pathOf)
    const own: ElementWriter = {
      add: (one, two, count) => writer.add(one, two, count),
      end: () => {
        this.#open.delete(own)
        writer.end()
      },
    }
    this.#open.add(own)
    return own
  }
}

function nameOf(prefix: string, layer: string, step: number, metric: CsvMetric): string {
  const name = layerCsvName(prefix, layer, step, metric)
  if (Buffer.byteLength(name) <= LONGEST_NAME) return name
  const what = `the CSV file of the layer ${layer} would have a name of ${Buffer.byteLength(name)} bytes`
  throw new UsageError('name', `${what}; give the model by a shorter path, or leave out --csv`)
}
