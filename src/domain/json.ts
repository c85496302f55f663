/** JSON in which NaN and infinities survive as strings; plain JSON.stringify would turn them into null. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_key, item) => encodeNumber(item), indent)
}

function encodeNumber(item: unknown): unknown {
  if (typeof item === 'bigint') return item.toString()
  return typeof item === 'number' && !Number.isFinite(item) ? String(item) : item
}

/** An object that is not a list, such as JSON has. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads a number that may have been written by `toJson`. */
export function numberFromJson(value: unknown): number | null {
  if (typeof value === 'number') return value
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? Number(value) : null
}
