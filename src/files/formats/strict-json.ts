import { FormatError } from '../../domain/errors.ts'
import { type JsonValue, readJson } from './json-reader.ts'

export type StrictJson = JsonValue<number | boolean | null>

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** JSON from untrusted files: objects become Maps, a repeated key or deep nesting is an error. */
export function parseStrictJson(text: string, what: string): StrictJson {
  return readJson(text, {
    scalar: SCALAR,
    readScalar: (word) => JSON.parse(word) as number | boolean | null,
    isStrict: true,
    error: (problem, at) => new FormatError('json', `${what} ${problem} (at character ${at}); write the file again`),
  })
}
