import { type JsonDialect, type JsonValue, readJson } from '../../../files/formats/json-reader.ts'
import type { Lookup } from './value-finder.ts'

/** Numbers are the texts that stand there. */
type LoggedJson = JsonValue<string | null>

/** A longer line is no record of metrics. */
const MAX_RECORD_LENGTH = 2 ** 20
/** Made once: lines of another kind are many, and a stack for each would take longer than reading it. */
const NOT_JSON = new SyntaxError('not JSON')

/** As Python writes JSON, with NaN and infinities. */
const LOGGED: JsonDialect<string | null> = {
  scalar: /-?(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN|true|false|null/y,
  readScalar: (word) => (word === 'null' ? null : word),
  isStrict: false,
  error: () => NOT_JSON,
}

/** The fields of a line that is a JSON object, numbers as they are written; null where it is none. */
export function jsonRecord(line: string): Lookup | null {
  const record = line.length > MAX_RECORD_LENGTH ? null : parseLine(line)
  return record instanceof Map ? (field) => textAt(record, field) : null
}

function parseLine(line: string): LoggedJson {
  try {
    return readJson(line, LOGGED)
  } catch (error) {
    if (error === NOT_JSON) return null
    throw error
  }
}

/** A key may itself have dots in it. */
function textAt(record: Map<string, LoggedJson>, field: string): string | undefined {
  const own = record.get(field)
  if (own !== undefined || !field.includes('.')) return typeof own === 'string' ? own : undefined
  let value: LoggedJson | undefined = record
  for (const part of field.split('.')) value = partOf(value, part)
  return typeof value === 'string' ? value : undefined
}

function partOf(whole: LoggedJson | undefined, part: string): LoggedJson | undefined {
  if (whole instanceof Map) return whole.get(part)
  return Array.isArray(whole) && Object.hasOwn(whole, part) ? whole[Number(part)] : undefined
}
