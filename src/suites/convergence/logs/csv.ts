import type { LogEvent } from '../../../domain/convergence.ts'
import { FormatError } from '../../../domain/errors.ts'
import { suggestWord } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Finder, Parsing } from '../config/contract.ts'
import { EventFinder } from './event-finder.ts'
import type { FileReader } from './file-reader.ts'
import type { StepMerger } from './step-merger.ts'

const MAX_ROW_LENGTH = 2 ** 20

/** A file with a row of names and then a row per record; an empty cell was not logged. */
export function csvReader(parsing: Parsing, steps: StepMerger): FileReader {
  return new CsvReader(parsing, steps)
}

class CsvReader implements FileReader {
  readonly #finder: EventFinder
  readonly #columns: readonly string[]
  readonly #steps: StepMerger
  readonly #decoder = new TextDecoder()
  #rest = ''
  #header: Map<string, number> | null = null
  #isTorn = false

  constructor({ stepNum, metrics }: Parsing, steps: StepMerger) {
    this.#finder = new EventFinder({ modelSave: null, stepNum, metrics })
    this.#columns = [stepNum, ...Object.values(metrics)].flatMap(fieldsOf)
    this.#steps = steps
  }

  feed(bytes: Uint8Array): LogEvent[] {
    const { rows, rest } = splitRows(this.#rest + this.#decoder.decode(bytes, { stream: true }))
    if (rest.length > MAX_ROW_LENGTH) {
      throw new FormatError('csv', `the CSV file has a row of more than ${MAX_ROW_LENGTH} characters; check its quotes`)
    }
    this.#rest = rest
    return rows.flatMap((row) => this.#read(row))
  }

  /** A last row without a newline may be cut, so it does not count. */
  end(): LogEvent[] {
    this.#isTorn = this.#rest.trim() !== ''
    this.#rest = ''
    return this.#steps.flush()
  }

  get warnings(): readonly string[] {
    const torn = this.#isTorn ? ['the last row of the CSV file does not end with a newline and was left out'] : []
    return [...this.#missingColumns(), ...torn, ...this.#finder.warnings]
  }

  #read(row: string): LogEvent[] {
    const cells = splitCells(row)
    if (this.#header === null) {
      this.#header = new Map(cells.map((name, i) => [name, i] as const).reverse())
      return []
    }
    const header = this.#header
    const lookup = (column: string) => cells[header.get(column) ?? -1] || undefined
    const event = this.#finder.event('', lookup)
    return event?.kind === 'step' ? this.#steps.add(event.step, event.metrics) : []
  }

  #missingColumns(): string[] {
    if (this.#header === null) return []
    const names = [...this.#header.keys()].reverse()
    return this.#columns
      .filter((column) => !this.#header?.has(column))
      .map((column) => {
        const hint = suggestWord(column, names, `it has ${cleanText(names.join(', '), 200)}`)
        return `the CSV file has no column "${cleanText(column, 80)}"; ${hint}`
      })
  }
}

function fieldsOf(finder: Finder): string[] {
  return finder.kind === 'fields' ? Object.values(finder.fields) : []
}

/** Rows end at a line end that is not between quotes. */
function splitRows(text: string): { rows: string[]; rest: string } {
  const rows: string[] = []
  let [start, isQuoted] = [0, false]
  for (const { 0: token, index } of text.matchAll(/["\n]/g)) {
    if (token === '"') isQuoted = !isQuoted
    else if (!isQuoted) {
      rows.push(text.slice(start, index))
      start = index + 1
    }
  }
  return { rows: rows.filter((row) => row.trim() !== ''), rest: text.slice(start) }
}

function splitCells(row: string): string[] {
  const cells: string[] = []
  for (const { 1: quoted, 2: plain } of row.matchAll(/\s*"((?:[^"]|"")*)"[^,]*(?:,|$)|([^,]*)(?:,|$)/g)) {
    cells.push((quoted?.replaceAll('""', '"') ?? plain ?? '').trim())
  }
  // After the last comma the pattern matches once more, with nothing.
  if (!row.endsWith(',')) cells.pop()
  return cells
}
