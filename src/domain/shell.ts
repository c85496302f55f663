import { isSeen } from './text.ts'

/** A word as a POSIX shell reads it back. What a terminal would not show is written as printf's escapes. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (isSeen(word)) return `'${word.replaceAll("'", `'\\''`)}'`
  // A command substitution loses line ends at its end.
  const body = word.replace(/\n+$/, '')
  const ends = word.slice(body.length)
  return `"$(printf '${escaped(body)}')"${ends && `'${ends}'`}`
}

/** Also escapes quotes, and a dash that printf would take for an option. */
function escaped(word: string): string {
  const characters = Array.from(word, (character, i) => {
    if (character === '%') return '%%'
    const isPlain = isSeen(character) && !/['"`$\\!]/.test(character)
    return isPlain && (i > 0 || character !== '-') ? character : octal(character)
  })
  return characters.join('')
}

function octal(character: string): string {
  return Array.from(new TextEncoder().encode(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
