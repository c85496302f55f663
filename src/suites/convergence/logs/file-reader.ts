import type { LogEvent } from '../../../domain/convergence.ts'
import type { Parsing } from '../config/contract.ts'
import { csvReader } from './csv.ts'
import { jsonLinesReader } from './json-lines.ts'
import { StepMerger } from './step-merger.ts'
import { tensorboardReader } from './tensorboard.ts'

/** Reads a file of metrics as it grows. A step is given once another begins, or at the end. */
export interface FileReader {
  feed(bytes: Uint8Array): LogEvent[]
  end(): LogEvent[]
  readonly warnings: readonly string[]
}

/** For one file; several of one program share what is known of each step. Throws a FormatError for a damaged file. */
export function fileReader(parsing: Parsing, steps = new StepMerger()): FileReader {
  const { kind } = parsing.source
  if (kind === 'csv') return csvReader(parsing, steps)
  if (kind === 'tensorboard') return tensorboardReader(parsing, steps)
  if (kind === 'jsonl-file') return jsonLinesReader(parsing, steps)
  throw new Error(`${kind} are read from a stream; this is a bug in Assay`)
}
