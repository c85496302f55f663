import { cleanProse } from '../../domain/text.ts'

const LONGEST_MESSAGE = 100_000
const LONGEST_WORDS = 80
const FEWEST_LETTERS = 6

/** Numbers, addresses, paths and what was cut off: they change from run to run, and so does the word around them. */
const UNSTABLE = /[^\s"'`()[\]]*[\d/\\…][^\s"'`()[\]]*/g
const CLAUSE_END = /[;()\n]|:\s/
const EDGES = /^[^\p{L}]+|[^\p{L}]+$/gu

/** Whether a message contains words, whatever its blanks and capitals. */
export function containsWords(message: string, words: string): boolean {
  return plain(message).includes(plain(words))
}

/** The longest part of a message that will be there next time too; null where there is none worth the name. */
export function stableWords(message: string): string | null {
  const text = cleanProse(message, LONGEST_MESSAGE)
  const pieces = text
    .replace(UNSTABLE, ';')
    .split(CLAUSE_END)
    .map((piece) => shortened(piece.replace(EDGES, '')))
  const longest = pieces.reduce((best, piece) => (piece.length > best.length ? piece : best), '')
  const letters = longest.match(/\p{L}/gu)?.length ?? 0
  return letters >= FEWEST_LETTERS && containsWords(message, longest) ? longest : null
}

/** Ends with a whole word where it has several. */
function shortened(piece: string): string {
  if (piece.length <= LONGEST_WORDS) return piece
  const cut = piece.slice(0, LONGEST_WORDS + 1)
  const blank = cut.lastIndexOf(' ')
  return blank > 0 ? cut.slice(0, blank).replace(EDGES, '') : Array.from(cut).slice(0, -2).join('')
}

function plain(text: string): string {
  return cleanProse(text, LONGEST_MESSAGE).toLowerCase()
}
