import type { Finder, Parsing } from '../../files/convergence/contract.ts'
import { type LineReader, lineReader } from '../../files/convergence/line-reader.ts'
import type { EventPacker } from '../../files/convergence/packed-events.ts'
import { LineSplitter } from './line-splitter.ts'

/** Reads one file of metrics, from its beginning to its end. */
export interface SourceReader {
  feed(bytes: Buffer, packer: EventPacker): void
  end(packer: EventPacker): void
  readonly warnings: readonly string[]
}

const NOTHING: Finder = { kind: 'fields', fields: {} }

class JsonLinesReader implements SourceReader {
  readonly #splitter = new LineSplitter()
  readonly #lines: LineReader

  /** Saves are on lines of the stream where they are found by a pattern. */
  constructor(parsing: Parsing) {
    const modelSave = parsing.modelSave.kind === 'fields' ? parsing.modelSave : NOTHING
    this.#lines = lineReader({ ...parsing, modelSave, source: { kind: 'jsonl' } })
  }

  feed(bytes: Buffer, packer: EventPacker): void {
    for (const line of this.#splitter.feed(bytes)) this.#lines.readInto(packer, line)
  }

  end(packer: EventPacker): void {
    for (const line of this.#splitter.end()) this.#lines.readInto(packer, line)
  }

  get warnings(): readonly string[] {
    return this.#lines.warnings
  }
}

const READERS: Partial<Record<Parsing['source']['kind'], new (parsing: Parsing) => SourceReader>> = {
  'jsonl-file': JsonLinesReader,
}

export function sourceReader(parsing: Parsing): SourceReader {
  const Reader = READERS[parsing.source.kind]
  if (!Reader) throw new Error(`no reader for files of the kind ${parsing.source.kind}: this is a bug in Assay`)
  return new Reader(parsing)
}
