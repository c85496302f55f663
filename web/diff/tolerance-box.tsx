import { useState } from 'preact/hooks'
import type { PairLimits } from '../../src/compare/pairs/pair-statistics.ts'
import { type Limits, limitFrom } from './view-state.ts'

export interface ToleranceBoxProps {
  readonly limits: PairLimits
  readonly tolerance: Limits | null
  change(tolerance: Limits | null): void
}

/** |target − reference| ≤ rtol·|reference| + atol, to try out. */
export function ToleranceBox({ limits, tolerance, change }: ToleranceBoxProps) {
  const now = tolerance ?? { rtol: limits.rtol, atol: limits.constant }
  const isInteger = limits.ulpDType === null
  return (
    <span class="tolerance">
      <span class="formula">|t − r| ≤</span>
      <Limit name="rtol" value={now.rtol} most={1} set={(rtol) => change({ ...now, rtol })} />
      <span>· |r| +</span>
      <Limit name="atol" value={now.atol} most={Number.POSITIVE_INFINITY} set={(atol) => change({ ...now, atol })} />
      {tolerance ? (
        <button type="button" id="default-limits" onClick={() => change(null)}>
          default
        </button>
      ) : (
        <span class="quiet">{isInteger ? 'integers: equal' : 'default'}</span>
      )}
    </span>
  )
}

interface LimitProps {
  readonly name: string
  readonly value: number
  readonly most: number
  set(value: number): void
}

function Limit({ name, value, most, set }: LimitProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const wrong = typed === null ? null : problemOf(typed, most)
  const type = (text: string) => {
    setTyped(text)
    if (problemOf(text, most) === null) set(Number(text))
  }
  return (
    <label class={wrong ? 'limit wrong' : 'limit'}>
      {name}
      <input
        id={name}
        type="text"
        inputMode="decimal"
        spellcheck={false}
        value={typed ?? shortest(value)}
        aria-invalid={wrong !== null}
        onInput={(event) => type(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
      />
      {wrong && <span class="problem">{wrong}</span>}
    </label>
  )
}

function problemOf(text: string, most: number): string | null {
  const value = limitFrom(text)
  if (value === null) return 'give a number from 0 up, such as 1e-3'
  return value < most ? null : `with ${most} or more everything would pass`
}

/** Few digits where they say the same. */
function shortest(value: number): string {
  const short = Number(value.toPrecision(4))
  const text = short !== 0 && (short < 1e-3 || short >= 1e6) ? short.toExponential() : String(short)
  return text
}
