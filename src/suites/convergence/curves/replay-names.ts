import type { CurveWindow, JudgedPoint } from './contract.ts'

const MOST_NAMES = 8

/** Empty where there is only one replay, which needs no name. */
export function nameReplays({ replays, replayNames }: CurveWindow): readonly string[] {
  return replays.length < 2 ? [] : replays.map((_, i) => replayNames?.[i] ?? `replay ${i + 1}`)
}

/** How the points share out among the replays: ` (seed 22: 3, seed 23: 1)`. */
export function sharedOut(points: readonly JudgedPoint[], names: readonly string[]): string {
  const shares = names
    .map((name, i) => ({ name, count: points.filter(({ replay }) => replay === i).length }))
    .filter(({ count }) => count > 0)
  const shown = shares.slice(0, MOST_NAMES).map(({ name, count }) => `${name}: ${count}`)
  const more = shares.length - shown.length
  return shares.length === 0 ? '' : ` (${[...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')})`
}
