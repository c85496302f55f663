import { useMemo } from 'preact/hooks'
import type { Range } from '../../../src/compare/slice/tally.ts'
import { formatNumber } from '../../../src/domain/text.ts'
import { VALUE_SCALE } from './paint.ts'

/** The colours of values. */
export function Scale({ range, numbers }: { readonly range: Range | null; readonly numbers: Float64Array }) {
  const hasOthers = useMemo(() => hasNonFinite(numbers), [numbers])
  return (
    <p class="scale">
      {range ? (
        <>
          <span>{formatNumber(range.least)}</span>
          <i style={{ background: VALUE_SCALE }} />
          <span>{formatNumber(range.most)}</span>
        </>
      ) : (
        <span class="quiet">no finite value</span>
      )}
      {hasOthers && (
        <>
          <span class="swatch no-value" /> NaN, ∞
        </>
      )}
    </p>
  )
}

/** The colours of errors. */
export function ErrorScale() {
  return (
    <p class="scale errors">
      <span class="swatch equal">=</span> equal
      <i class="within" />
      <span>limit</span>
      <i class="over" />
      <span>1000 ×</span>
      <span class="swatch non-finite">!</span> non-finite
    </p>
  )
}

function hasNonFinite(numbers: Float64Array): boolean {
  for (let i = 0; i < numbers.length; i++) if (!Number.isFinite(numbers[i])) return true
  return false
}
