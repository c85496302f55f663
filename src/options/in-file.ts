import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/suggest.ts'
import type { Kind } from './kinds.ts'
import type { Option, OptionTable } from './table.ts'

/** The values of a table that a configuration file may set. */
export type FileValues<T extends OptionTable> = {
  readonly [K in keyof T as T[K] extends { readonly commandLineOnly: true } | { readonly outsideFile: true }
    ? never
    : K]?: FileValue<T[K]>
}

type FileValue<O> = O extends { readonly kind: Kind<infer T> } ? Written<T> : never

/** Numbers may be text with a unit, and lists a single text. */
type Written<T> = T extends number
  ? number | string
  : T extends readonly (infer E extends string | number)[]
    ? E | string | readonly E[]
    : T extends string | boolean
      ? T
      : string | number

function isForFile({ commandLineOnly, outsideFile }: Option): boolean {
  return !commandLineOnly && !outsideFile
}

/** Keys that a configuration file may have. */
export function fileKeys(table: OptionTable): string[] {
  return Object.entries(table).flatMap(([key, option]) => (isForFile(option) ? [key] : []))
}

/** Refuses keys of a configuration file that name neither an option nor a section. */
export function checkKeys(found: readonly string[], known: readonly string[], where: string): void {
  for (const key of found) if (!known.includes(key)) throw unknown('config', `key "${key}" in ${where}`, key, known)
}

/** Refuses values in a configuration file that their option does not take. */
export function checkWritten(table: OptionTable, written: object, where: string): void {
  for (const [key, value] of Object.entries(written)) {
    const option = Object.hasOwn(table, key) ? table[key] : undefined
    if (option === undefined || value === undefined || option.kind.fits(value)) continue
    const found = JSON.stringify(value) ?? String(value)
    throw new UsageError('config', `${where}${key}: expected ${option.kind.expected}, found ${found}`)
  }
}

/** The same values with their paths rewritten. */
export function moveWritten<T extends object>(table: OptionTable, written: T, moved: (path: string) => string): T {
  const entries = Object.entries(written).map(([key, value]) => {
    const move = Object.hasOwn(table, key) ? table[key]?.kind.move : undefined
    return [key, move ? move(value, moved) : value]
  })
  return Object.fromEntries(entries)
}
