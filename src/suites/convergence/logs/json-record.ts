import { parseJsonText } from './json-text.ts'
import type { Lookup } from './value-finder.ts'

/** A longer line is no record of metrics. */
const MAX_RECORD_LENGTH = 2 ** 20

/** The fields of a line that is a JSON object, numbers as they are written; null where it is none. */
export function jsonRecord(line: string): Lookup | null {
  const record = line.length > MAX_RECORD_LENGTH ? null : parseJsonText(line)
  return record && ((field) => textAt(record, field))
}

/** A key may itself have dots in it. */
function textAt(record: object, field: string): string | undefined {
  const own = ownValue(record, field)
  if (own !== undefined || !field.includes('.')) return typeof own === 'string' ? own : undefined
  let value: unknown = record
  for (const part of field.split('.')) value = ownValue(value, part)
  return typeof value === 'string' ? value : undefined
}

function ownValue(holder: unknown, key: string): unknown {
  const isThere = typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
  return isThere ? (holder as Record<string, unknown>)[key] : undefined
}
