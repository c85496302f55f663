import { z } from 'zod'
import { numberFromJson } from '../../domain/json.ts'
import { cleanText } from '../../domain/text.ts'

/** A number as `toJson` writes it, NaN and infinities included. */
export const jsonNumber = z.unknown().transform(decodeNumber)
export const jsonNumberOrNull = z.unknown().transform((value, context) => {
  return value === null ? null : decodeNumber(value, context)
})

function decodeNumber(value: unknown, context: z.RefinementCtx): number {
  const found = numberFromJson(value)
  if (found !== null) return found
  const shown = cleanText(JSON.stringify(value) ?? 'nothing', 80)
  context.addIssue({ code: 'custom', message: `found ${shown} where a number belongs` })
  return z.NEVER
}

/** The content of a value that has the shape; otherwise `refuse` is given the first problem and its place below `under`. */
export function readShape<T>(
  schema: z.ZodType<T>,
  value: unknown,
  refuse: (problem: string) => Error,
  under: readonly string[] = [],
): T {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const { path, message } = checked.error.issues[0]!
  const place = cleanText([...under, ...path].join('.'), 200)
  throw refuse(place === '' ? message : `${place}: ${message}`)
}
