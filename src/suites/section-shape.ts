import type { z } from 'zod'
import { UsageError } from '../domain/errors.ts'
import { readShape } from '../files/formats/json-shape.ts'
import type { ConfigPlace, SectionRow, SectionRules } from './contract.ts'

/** Functions for the content of a section. */
interface ShapedRules<T> {
  locate?(content: T, place: ConfigPlace): unknown
  rows?(content: T): readonly SectionRow[]
}

/** A section of the configuration whose content has a shape. */
export function shapedSection<T>(key: string, schema: z.ZodType<T>, rules: ShapedRules<T> = {}): SectionRules {
  const { locate, rows } = rules
  return {
    check(written, where) {
      readShape(schema, written, (problem) => new UsageError('config', `${where}: ${problem}`), [key])
    },
    ...(locate && { locate: (written, place) => locate(schema.parse(written), place) }),
    ...(rows && { rows: (written) => rows(schema.parse(written)) }),
  }
}

/** A line for each entry of an object of objects: `a/** x`. */
export function nestedRows(written: unknown): SectionRow[] {
  return entriesOf(written).flatMap(([match, each]) =>
    entriesOf(each).map(([name, value]) => ({ key: `${match} ${name}`, place: `.${match}.${name}`, value })),
  )
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
