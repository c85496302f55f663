import type { Tally } from '../../../src/compare/slice/tally.ts'
import { formatCount, formatShare } from '../format.ts'
import { MARKS } from './marks.ts'

/** How many elements of the slice are of each class. */
export function Legend({ tally, isStale }: { readonly tally: Tally; readonly isStale: boolean }) {
  const total = tally.counts.reduce((sum, count) => sum + count, 0)
  return (
    <ul class={isStale ? 'legend stale' : 'legend'} id="legend" aria-label="elements in this slice">
      {tally.counts.map((count, found) => {
        const { name, sign, style } = MARKS[found]!
        return (
          <li key={name} id={`count-${style}`} class={count === 0 ? 'none' : ''}>
            <span class={`swatch ${style}`}>{sign}</span>
            <span>{name}</span>
            <b>{formatCount(count)}</b>
            <span class="quiet">{total === 0 ? '' : formatShare(count, total)}</span>
          </li>
        )
      })}
    </ul>
  )
}
