import { toJson } from '../../../domain/json.ts'

/** The facts of a weight fit. */
const LINE = 150
/** Numbers of a long list stay on their line when others change. */
const PER_LINE = 8
/** More digits would only show the noise of adding up. */
const DIGITS = 12

/** JSON that a version control shows well: what is short on one line, numbers in lines of eight, keys as they come. */
export function snapshotText(value: object): string {
  return `${textOf(rounded(value), '')}\n`
}

function textOf(value: unknown, indent: string): string {
  const short = toJson(value)
  if (short.length <= LINE || typeof value !== 'object' || value === null) return short
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const isFlat = value.every((item) => typeof item !== 'object')
    const lines = isFlat ? inLines(value) : value.map((item) => textOf(item, inner))
    return `[\n${lines.map((line) => inner + line).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const lines = entries.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${textOf(item, inner)}`)
  return `{\n${lines.join(',\n')}\n${indent}}`
}

function inLines(items: readonly unknown[]): string[] {
  const starts = Array.from({ length: Math.ceil(items.length / PER_LINE) }, (_, i) => i * PER_LINE)
  return starts.map((start) =>
    items
      .slice(start, start + PER_LINE)
      .map((item) => toJson(item))
      .join(', '),
  )
}

function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : value
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item)]))
}
