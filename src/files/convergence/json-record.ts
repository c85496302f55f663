import type { Lookup } from './value-finder.ts'

/** A longer line is no record of metrics, and patterns overflow on it. */
const MAX_RECORD_LENGTH = 2 ** 20

const NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN/g
const QUOTE = 0x22

/** The fields of a line that is a JSON object, numbers as they are written; null where it is none. */
export function jsonRecord(line: string): Lookup | null {
  const record = parseObject(line)
  return record && ((field) => textOf(valueAt(record, field)))
}

/** Numbers become strings before parsing, because a parsed one no longer shows how it was written. */
function parseObject(line: string): object | null {
  if (line.length > MAX_RECORD_LENGTH || !/^\s*\{/.test(line)) return null
  const quoted = line.replace(NUMBER, (token) => (token.charCodeAt(0) === QUOTE ? token : `"${token}"`))
  try {
    return JSON.parse(quoted) as object
  } catch {
    return null
  }
}

/** A key may itself have dots in it. */
function valueAt(record: object, field: string): unknown {
  if (Object.hasOwn(record, field)) return (record as Record<string, unknown>)[field]
  let value: unknown = record
  for (const part of field.split('.')) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    if (!isThere) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' ? String(value) : undefined
}
