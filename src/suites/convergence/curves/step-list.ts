const MOST_PIECES = 6
const MOST_WORDS = 8

/** `step 7`, `steps 7 and 8`, `steps 5 to 9, 12 and 3 more`. */
export function stepList(steps: readonly number[]): string {
  const sorted = [...new Set(steps)].sort((a, b) => a - b)
  return `${sorted.length === 1 ? 'step' : 'steps'} ${joinWords(pieces(sorted))}`
}

/** `a`, `a and b`, `a, b and c`; many are cut. */
export function joinWords(words: readonly string[]): string {
  if (words.length > MOST_WORDS)
    return `${words.slice(0, MOST_WORDS - 1).join(', ')} and ${words.length - MOST_WORDS + 1} more`
  return words.length < 2 ? (words[0] ?? 'none') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function pieces(sorted: readonly number[]): string[] {
  const runs: number[][] = []
  for (const step of sorted) {
    const run = runs.at(-1)
    if (run && run.at(-1) === step - 1) run.push(step)
    else runs.push([step])
  }
  const shown = runs.flatMap((run) => (run.length < 3 ? run.map((step) => [step]) : [run]))
  const texts = shown.map((run) => (run.length === 1 ? String(run[0]) : `${run[0]} to ${run.at(-1)}`))
  if (texts.length <= MOST_PIECES) return texts
  const more = shown.slice(MOST_PIECES - 1).flat().length
  return [...texts.slice(0, MOST_PIECES - 1), `${more} more`]
}
