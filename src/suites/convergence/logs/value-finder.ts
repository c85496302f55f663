import type { Finder } from '../config/contract.ts'

/** The value of a field of one record, as it was logged. */
export type Lookup = (field: string) => string | undefined

/** Finds values on a line, or in the record that the line holds. */
export interface ValueFinder {
  first(line: string, record: Lookup | null): string | null
  /** Appends what it finds to `texts`; returns the labels, or null if there is nothing. */
  collect(line: string, record: Lookup | null, texts: string[]): readonly string[] | null
}

/** Compiles what is looked for, once for all lines. */
export function valueFinder(finder: Finder): ValueFinder {
  return finder.kind === 'pattern' ? new PatternFinder(finder) : new FieldFinder(finder.fields)
}

class PatternFinder implements ValueFinder {
  readonly #pattern: RegExp
  readonly #labels: readonly string[] | null
  #whole: readonly string[] | null = null

  constructor({ source, flags, labels }: Extract<Finder, { kind: 'pattern' }>) {
    this.#pattern = new RegExp(source, flags)
    this.#labels = labels
  }

  first(line: string): string | null {
    return this.#pattern.exec(line)?.[1] ?? null
  }

  collect(line: string, _record: Lookup | null, texts: string[]): readonly string[] | null {
    const match = this.#pattern.exec(line)
    if (match === null) return null
    const before = texts.length
    for (let group = 1; group < match.length; group++) {
      const text = match[group]
      if (text !== undefined) texts.push(text)
    }
    if (texts.length === before) return null
    return texts.length - before === match.length - 1 ? this.#allLabels(match) : this.#labelsIn(match)
  }

  /** The same object for every line, which is how steps are found to be alike. */
  #allLabels(match: RegExpExecArray): readonly string[] {
    this.#whole ??= this.#labelsIn(match)
    return this.#whole
  }

  #labelsIn(match: RegExpExecArray): readonly string[] {
    const groups = match.slice(1).flatMap((text, index) => (text === undefined ? [] : [index]))
    return groups.map((index) => this.#labels?.[index] ?? String(index))
  }
}

class FieldFinder implements ValueFinder {
  readonly #fields: readonly (readonly [label: string, field: string])[]

  constructor(fields: Readonly<Record<string, string>>) {
    this.#fields = Object.entries(fields)
  }

  first(_line: string, record: Lookup | null): string | null {
    const field = this.#fields[0]
    return (field && record?.(field[1])) ?? null
  }

  collect(_line: string, record: Lookup | null, texts: string[]): readonly string[] | null {
    if (record === null) return null
    const labels: string[] = []
    for (const [label, field] of this.#fields) {
      const text = record(field)
      if (text === undefined) continue
      labels.push(label)
      texts.push(text)
    }
    return labels.length > 0 ? labels : null
  }
}
