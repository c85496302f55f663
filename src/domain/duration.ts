import { findEntry } from './entry.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1, ms: 1e-3, s: 1, m: 60, min: 60, h: 3600 }

/** Parses `90`, `500ms`, `20s`, `5min` or `1h` to seconds; null if it is none of these. */
export function parseSeconds(text: string): number | null {
  const match = /^([0-9.eE+-]+)\s*([a-zA-Z]*)$/.exec(text.trim())
  const unit = match && findEntry(UNITS, match[2]!.toLowerCase())
  const seconds = match && unit ? Number(match[1]) * unit : Number.NaN
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}
