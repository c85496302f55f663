const DIGITS = '[0-9](?:_?[0-9])*'
const NUMBER = new RegExp(`^[+-]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`)
const NOT_FINITE = /^([+-]?)(?:(nan)|inf(?:inity)?)$/i

/** A logged text as Python's float() reads it, `nan`, `inf` and `1_000` included; null: it is no number. */
export function parseNumber(text: string): number | null {
  const bare = text.trim()
  if (NUMBER.test(bare)) return Number(bare.replaceAll('_', ''))
  const special = NOT_FINITE.exec(bare)
  if (special === null) return null
  if (special[2] !== undefined) return Number.NaN
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
