type Rgb = readonly [red: number, green: number, blue: number]

const STOPS: readonly Rgb[] = [
  [0, 0, 0],
  [60, 20, 110],
  [190, 40, 80],
  [250, 140, 30],
  [255, 250, 190],
]
const NOT_FINITE: Rgb = [0, 220, 220]

/** The error as a part of the scale; the square root keeps small errors visible beside large ones. */
export function strength(error: number, most: number): number {
  return most > 0 ? Math.sqrt(error / most) : 0
}

/** The colour of an error: from black to nearly white, cyan where it is not finite. */
export function heat(error: number, most: number): Rgb {
  if (Number.isNaN(error)) return NOT_FINITE
  const at = strength(error, most) * (STOPS.length - 1)
  const [low, high] = [STOPS[Math.floor(at)]!, STOPS[Math.min(STOPS.length - 1, Math.floor(at) + 1)]!]
  const part = at - Math.floor(at)
  const mix = (i: 0 | 1 | 2) => Math.round(low[i] + (high[i] - low[i]) * part)
  return [mix(0), mix(1), mix(2)]
}
