import { UsageError } from './errors.ts'
import { cleanText } from './text.ts'

/** `unknown scope "ful"; did you mean "full"?`, or the known words where none is similar. */
export function unknown(
  code: string,
  what: string,
  word: string,
  known: readonly string[],
  otherwise?: string,
): UsageError {
  return new UsageError(code, describeUnknown(what, word, known, otherwise))
}

export function describeUnknown(what: string, word: string, known: readonly string[], otherwise?: string): string {
  return `unknown ${what}; ${suggestWord(word, known, otherwise)}`
}

/** `did you mean "full"?`, or other advice where no known word is similar. */
export function suggestWord(word: string, known: readonly string[], otherwise = listKnown(known)): string {
  const near = nearest(word, known)
  return suggest(near === null ? null : `"${cleanText(near)}"`, otherwise)
}

/** The same for what was found in another way: a path, or a word as it is written. */
export function suggest(near: string | null, otherwise = ''): string {
  return near === null ? otherwise : `did you mean ${near}?`
}

function listKnown(known: readonly string[]): string {
  return `known: ${[...known].sort().join(', ')}`
}

/** The known word most similar to a mistyped one. */
export function nearest(word: string, known: readonly string[]): string | null {
  return rankSimilar(word, known)[0] ?? null
}

/** The known words that a mistyped one may stand for, the most similar first. */
export function rankSimilar(word: string, known: readonly string[]): string[] {
  const most = (name: string) => Math.max(1, Math.floor(name.length / 3))
  return (
    known
      // Skips words whose length differs too much, since a word may be very long.
      .filter((name) => Math.abs(name.length - word.length) <= most(name))
      .map((name) => ({ name, distance: editDistance(word, name) }))
      .filter(({ name, distance }) => distance <= most(name))
      .sort((a, b) => a.distance - b.distance)
      .map(({ name }) => name)
  )
}

/** Letters added, left out, changed, or two of them swapped. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, changed, isSwap ? before[j - 2]! + 1 : changed)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
