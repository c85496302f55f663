import type { PatternReader } from './pattern-reader.ts'
import { escapedCharacter, escapedSet, setLiteral } from './python-escapes.ts'

interface Complement {
  readonly complement: string
}

/** What stands between brackets, the first of which is read. A complement such as \W cannot stand between brackets of JavaScript, so it becomes another choice. */
export function pythonSet(reader: PatternReader, isAscii: boolean): string {
  const isNegated = reader.skip('^')
  const complements: string[] = []
  let members = ''
  for (let isFirst = true; isFirst || !reader.skip(']'); isFirst = false) {
    const found = member(reader, isAscii)
    if (typeof found === 'string') members += found
    else complements.push(`[^${found.complement}]`)
  }
  if (complements.length === 0) return `[${isNegated ? '^' : ''}${members}]`
  const choices = [...(members === '' ? [] : [`[${members}]`]), ...complements].join('|')
  return isNegated ? `(?:(?!${choices})[^])` : `(?:${choices})`
}

function member(reader: PatternReader, isAscii: boolean): string | Complement {
  const low = setItem(reader, isAscii)
  const isRange = reader.peek() === '-' && reader.peek(1) !== ']'
  if (!isRange) return typeof low === 'number' ? setLiteral(low) : low
  reader.next('brackets')
  const high = setItem(reader, isAscii)
  if (typeof low !== 'number' || typeof high !== 'number' || low > high) {
    throw reader.error('has a range in brackets that does not go from a lower to a higher character')
  }
  return `${setLiteral(low)}-${setLiteral(high)}`
}

/** The code of a character, or the members of \d and the like. */
function setItem(reader: PatternReader, isAscii: boolean): number | string | Complement {
  const character = reader.next('brackets')
  if (character !== '\\') return character.codePointAt(0)!
  const letter = reader.next('an escape')
  if (letter === 'b') return 8
  const set = escapedSet(letter, isAscii)
  if (set) return set.isComplement ? { complement: set.members } : set.members
  return escapedCharacter(letter, reader)
}
