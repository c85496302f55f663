import { useMemo, useState } from 'preact/hooks'
import type { PairVerdict, ShownPair } from '../../src/compare/slice/contract.ts'
import { formatShape } from '../../src/domain/tensor.ts'
import { cleanProse, cleanText, formatNumber } from '../../src/domain/text.ts'
import { formatCount } from './format.ts'
import type { Verdicts } from './use-diff.ts'
import { shownTensor } from './view-state.ts'

/** More rows than this are found by the filter. */
const MOST_ROWS = 500

export interface TensorListProps {
  readonly pairs: readonly ShownPair[]
  readonly verdicts: Verdicts
  readonly shown: number
  show(pair: number): void
}

/** All tensors, worst first. */
export function TensorList({ pairs, verdicts, shown, show }: TensorListProps) {
  const [filter, setFilter] = useState('')
  const order = useMemo(() => worstFirst(pairs.length, verdicts), [pairs.length, verdicts])
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const found = order.filter((pair) => words.every((word) => pairs[pair]!.name.toLowerCase().includes(word)))
  const failed = [...verdicts.values()].filter((entry) => !isPassed(entry)).length
  return (
    <nav class="tensors" aria-label="tensors">
      <input
        id="filter"
        type="search"
        placeholder="filter  ( / )"
        aria-label="filter by name"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      <p class="quiet">
        {verdicts.size < pairs.length
          ? `measured ${verdicts.size} of ${pairs.length}`
          : `${failed} of ${pairs.length} differ, worst first`}
      </p>
      <ul>
        {found.slice(0, MOST_ROWS).map((pair) => (
          <li key={pair}>
            <button
              type="button"
              class={pair === shown ? 'shown' : ''}
              aria-current={pair === shown}
              title={cleanText(pairs[pair]!.name)}
              onClick={() => show(pair)}
            >
              <Sign entry={verdicts.get(pair)} />
              <span class="name">{cleanText(pairs[pair]!.name, 80)}</span>
              <span class="shape quiet">{formatShape(shownTensor(pairs[pair]!).shape)}</span>
              <span class="quiet">{howBad(verdicts.get(pair))}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">no name has “{cleanText(filter, 40)}”</p>}
      {found.length > MOST_ROWS && <p class="quiet">and {found.length - MOST_ROWS} more: filter to see them</p>}
    </nav>
  )
}

function Sign({ entry }: { readonly entry: PairVerdict | Error | undefined }) {
  if (entry === undefined) return <span class="quiet">…</span>
  if (entry instanceof Error) return <span class="fail">!</span>
  return isPassed(entry) ? <span class="pass">✓</span> : <span class="fail">✗</span>
}

function isPassed(entry: PairVerdict | Error): boolean {
  return !(entry instanceof Error) && entry.result.verdict === 'pass'
}

function howBad(entry: PairVerdict | Error | undefined): string {
  if (entry === undefined) return ''
  if (entry instanceof Error) return 'cannot be read'
  const { result } = entry
  if (result.worst.length === 0) return result.verdict === 'pass' ? 'equal' : cleanProse(result.reason ?? '', 80)
  const { error } = result.worst[0]!
  if (result.verdict === 'pass') return error === 0 ? 'equal' : `error ≤ ${formatNumber(error, 3)}`
  const over = result.mismatches?.count ?? 0
  return over > 0 ? `${formatCount(over)} over, error ${formatNumber(error, 3)}` : cleanProse(result.reason ?? '', 80)
}

/** Those that cannot be compared, then those over their limit by most, then the rest; not yet measured ones last. */
function worstFirst(count: number, verdicts: Verdicts): number[] {
  const ranks = Array.from({ length: count }, (_, pair) => rankOf(verdicts.get(pair)))
  return ranks.map((_, pair) => pair).sort((a, b) => ranks[b]! - ranks[a]! || a - b)
}

const NOT_COMPARED = Number.MAX_VALUE

function rankOf(entry: PairVerdict | Error | undefined): number {
  if (entry === undefined) return -2
  if (entry instanceof Error) return NOT_COMPARED
  const { verdict, worst } = entry.result
  const [place] = worst
  if (!place) return verdict === 'pass' ? -1 : NOT_COMPARED
  const severity = place.error === 0 ? 0 : place.error / place.allowed
  const capped = Number.isNaN(severity) ? NOT_COMPARED / 4 : Math.min(severity, NOT_COMPARED / 4)
  return verdict === 'pass' ? Math.min(1, capped) : 2 + capped
}
