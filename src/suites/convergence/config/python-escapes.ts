import type { PatternReader } from './pattern-reader.ts'

/** A set by its members, as they stand between brackets, or by what is not in it. */
interface EscapedSet {
  readonly members: string
  readonly isComplement: boolean
}

/** What Python means by \d, \w and \s: of all of Unicode, unless the pattern begins with (?a). */
const UNICODE_SETS: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  w: '\\p{L}\\p{N}_',
  s: '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000',
}
const ASCII_SETS: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Za-z_', s: '\\t-\\r\\x20' }

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 }
const HEX_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }
const LETTER = /^[A-Za-z]$/
const OCTAL = /^[0-7]$/

export function setMembers(letter: string, isAscii: boolean): string {
  return (isAscii ? ASCII_SETS : UNICODE_SETS)[letter]!
}

/** \d and the like, their capital forms being the complement; null for other letters. */
export function escapedSet(letter: string, isAscii: boolean): EscapedSet | null {
  if (!/^[dwsDWS]$/.test(letter)) return null
  const lower = letter.toLowerCase()
  return { members: setMembers(lower, isAscii), isComplement: letter !== lower }
}

/** The character that an escape other than of a set, a place or a group stands for; its backslash and letter are read. */
export function escapedCharacter(letter: string, reader: PatternReader): number {
  const control = CONTROLS[letter]
  if (control !== undefined) return control
  const hexLength = HEX_LENGTHS[letter]
  if (hexLength !== undefined) return hexEscape(letter, hexLength, reader)
  if (OCTAL.test(letter)) return octalEscape(letter, reader)
  if (letter === 'N') throw reader.error('names a character with \\N{…}, which is not supported; write the character')
  if (LETTER.test(letter)) throw reader.error(`has the escape \\${letter}, which Python does not know`)
  return letter.codePointAt(0)!
}

function hexEscape(letter: string, length: number, reader: PatternReader): number {
  const digits = reader.take(/^[0-9a-fA-F]$/, length)
  const code = Number.parseInt(digits, 16)
  if (digits.length === length && code <= 0x10ffff) return code
  throw reader.error(`has the escape \\${letter}${digits}, expected ${length} hexadecimal digits of a character`)
}

function octalEscape(first: string, reader: PatternReader): number {
  const code = Number.parseInt(first + reader.take(OCTAL, 2), 8)
  if (code <= 0o377) return code
  throw reader.error(`has the octal escape \\${code.toString(8)}, which is beyond \\377`)
}

/** A character outside of brackets. */
export function literal(code: number): string {
  const character = String.fromCodePoint(code)
  if (/^[$^\\.*+?()[\]{}|/]$/.test(character)) return `\\${character}`
  return isPlain(code) ? character : `\\u{${code.toString(16)}}`
}

/** A character between brackets, where nearly all punctuation may mean something. */
export function setLiteral(code: number): string {
  const character = String.fromCodePoint(code)
  return code > 0x7f || /^[0-9A-Za-z_ "']$/.test(character) ? literal(code) : `\\u{${code.toString(16)}}`
}

function isPlain(code: number): boolean {
  return code >= 0x20 && code !== 0x7f && !(code >= 0xd800 && code <= 0xdfff) && code !== 0x2028 && code !== 0x2029
}
