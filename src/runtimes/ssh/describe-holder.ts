import { cleanText, formatDuration } from '../../domain/text.ts'
import type { Holder } from './replies.ts'

/** `held by anna@laptop (process 4711) for 2:05, last sign of life 3 s ago` */
export function describeHolder({ who, heldSeconds, silentSeconds }: Holder): string {
  const since = heldSeconds > 0 ? ` for ${secondsText(heldSeconds)}` : ''
  const life = silentSeconds > 0 ? `, last sign of life ${secondsText(silentSeconds)} ago` : ''
  return `held by ${cleanText(who, 120) || 'an unknown user'}${since}${life}`
}

/** The board counts whole seconds. */
function secondsText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000)
}
