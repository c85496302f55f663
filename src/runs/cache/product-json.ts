// JSON for products that gives back exactly what went in: NaN, infinities, −0, bigints and undefined are kept as
// `{"$number": …}` and the like, because a string "NaN" in a product must stay a string.

type Marked = Readonly<Record<string, unknown>>

export function encodeProduct(value: unknown): unknown {
  if (value === undefined) return { $undefined: true }
  if (typeof value === 'bigint') return { $bigint: value.toString() }
  if (typeof value === 'number') return encodeNumber(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(encodeProduct)
  if (typeof value === 'object' && isPlain(value)) return encodeObject(value)
  const kind = typeof value === 'object' ? value.constructor?.name : typeof value
  throw new TypeError(
    `a step's product holds a ${kind}; this is a bug in its suite: give plain data, write the rest to files`,
  )
}

function encodeNumber(value: number): unknown {
  if (Object.is(value, -0)) return { $number: '-0' }
  return Number.isFinite(value) ? value : { $number: String(value) }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function encodeObject(value: object): unknown {
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined)
  const encoded = Object.fromEntries(pairs.map(([key, item]) => [key, encodeProduct(item)]))
  return markOf(encoded) === null ? encoded : { $plain: encoded }
}

function markOf(value: object): string | null {
  const [key, ...others] = Object.keys(value)
  return key?.startsWith('$') && others.length === 0 ? key : null
}

export function decodeProduct(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(decodeProduct)
  const mark = markOf(value)
  return mark === null ? decodeObject(value) : decodeMarked(mark, (value as Marked)[mark])
}

function decodeObject(value: object): unknown {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decodeProduct(item)]))
}

function decodeMarked(mark: string, content: unknown): unknown {
  if (mark === '$undefined') return undefined
  if (mark === '$number') return Number(content)
  if (mark === '$bigint') return BigInt(String(content))
  if (mark === '$plain' && typeof content === 'object' && content !== null) return decodeObject(content)
  throw new TypeError(`unknown mark ${mark}`)
}
