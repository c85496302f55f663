import type { OutputResult, WorstPlace } from '../../src/domain/result.ts'
import { cleanText, formatNumber } from '../../src/domain/text.ts'
import { formatIndex, shortPair } from './format.ts'

export interface WorstListProps {
  readonly result: OutputResult
  readonly shown: readonly number[]
  show(place: WorstPlace): void
}

/** The places of the whole tensor that are furthest over their limit. */
export function WorstList({ result, shown, show }: WorstListProps) {
  const places = result.worst.filter(({ error }) => error !== 0)
  if (places.length === 0) return <p class="quiet">no element differs</p>
  return (
    <table class="worst" id="worst">
      <thead>
        <tr>
          {['index', 'reference', 'target', 'error', 'allowed'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {places.map((place) => {
          const [reference, target] = shortPair(place.reference, place.target)
          return (
            <tr key={place.index.join()} class={isShown(place, shown) ? 'shown' : ''} onClick={() => show(place)}>
              <td>
                <button type="button" onClick={() => show(place)}>
                  {formatIndex(place.index)}
                </button>
              </td>
              <td title={cleanText(place.reference)}>{cleanText(reference, 40)}</td>
              <td title={cleanText(place.target)}>{cleanText(target, 40)}</td>
              <td>{formatNumber(place.error)}</td>
              <td>{formatNumber(place.allowed, 3)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function isShown({ index }: WorstPlace, shown: readonly number[]): boolean {
  return index.every((place, axis) => shown[axis] === place)
}
