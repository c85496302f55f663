import type { PatternReader } from './pattern-reader.ts'

export interface PatternFlags {
  readonly isAscii: boolean
  readonly ignoresCase: boolean
  readonly isMultiline: boolean
  readonly dotMatchesAll: boolean
  readonly isVerbose: boolean
}

const LETTERS: Readonly<Record<string, keyof PatternFlags>> = {
  a: 'isAscii',
  i: 'ignoresCase',
  m: 'isMultiline',
  s: 'dotMatchesAll',
  x: 'isVerbose',
}

export const NO_FLAGS: PatternFlags = {
  isAscii: false,
  ignoresCase: false,
  isMultiline: false,
  dotMatchesAll: false,
  isVerbose: false,
}

/** Flags with those of some letters set or taken back. */
export function withFlags(flags: PatternFlags, letters: string, isOn: boolean, reader: PatternReader): PatternFlags {
  let changed = flags
  for (const letter of letters) {
    const flag = LETTERS[letter]
    if (flag) changed = { ...changed, [flag]: isOn }
    else if (letter === 'u' && isOn) changed = { ...changed, isAscii: false }
    else throw reader.error(`has the flag "${letter}", which is not supported; known: a, i, m, s, u, x`)
  }
  return changed
}
