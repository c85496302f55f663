import type { PairLimits } from '../../../src/compare/pairs/pair-statistics.ts'
import { allowance } from '../../../src/compare/slice/classify.ts'
import type { ExponentBin, Tally } from '../../../src/compare/slice/tally.ts'
import { formatNumber } from '../../../src/domain/text.ts'
import { formatCount } from '../format.ts'

const WIDTH = 360
const HEIGHT = 96
const MOST_BARS = 48
const FAR = 24

export interface HistogramProps {
  readonly tally: Tally
  readonly limits: PairLimits
  readonly isStale: boolean
}

/** Errors of the slice by size, both axes logarithmic, with the limits. */
export function Histogram({ tally, limits, isStale }: HistogramProps) {
  const band = limitBand(tally, limits)
  const bars = barsOf(tally.bins, band)
  if (bars.length === 0) return <p class="quiet">no finite error in this slice</p>
  const from = bars[0]!.from
  const step = bars[0]!.to - from
  const highest = Math.max(...bars.map(({ within, over }) => within + over))
  const x = (exponent: number) => ((exponent - from) / (step * bars.length)) * WIDTH
  const y = (count: number) => (count === 0 ? 0 : ((1 + Math.log2(count)) / (1 + Math.log2(highest))) * (HEIGHT - 4))
  const width = WIDTH / bars.length
  return (
    <figure class={isStale ? 'histogram stale' : 'histogram'}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="errors by size" preserveAspectRatio="none">
        {bars.map(({ from: start, to, within, over }) => {
          const height = y(within + over)
          const overHeight = (height * over) / Math.max(1, within + over)
          const gap = width > 3 ? 1 : 0
          return (
            <g key={start}>
              <title>{`${power(start)} to ${power(to)}: ${formatCount(within)} within, ${formatCount(over)} over`}</title>
              <rect class="hit" x={x(start)} y={0} width={width} height={HEIGHT} />
              <rect class="within" x={x(start)} y={HEIGHT - height} width={width - gap} height={height - overHeight} />
              <rect class="over" x={x(start)} y={HEIGHT - overHeight} width={width - gap} height={overHeight} />
            </g>
          )
        })}
        {band && <LimitLine from={clip(x(band.from))} to={clip(x(band.to))} />}
      </svg>
      <figcaption>
        <span>{power(from)}</span>
        <span class="quiet">|t − r|, bars to {formatCount(highest)} (log)</span>
        <span>{power(from + step * bars.length)}</span>
      </figcaption>
      <p class="quiet" id="limit-text">
        {limitText(tally, limits)}
      </p>
    </figure>
  )
}

function LimitLine({ from, to }: { readonly from: number; readonly to: number }) {
  return (
    <g class="limit-line">
      <rect x={from} y={0} width={Math.max(1.5, to - from)} height={HEIGHT} />
      <line x1={from} x2={from} y1={0} y2={HEIGHT} />
      <line x1={to} x2={to} y1={0} y2={HEIGHT} />
    </g>
  )
}

function clip(x: number): number {
  return Math.max(0.75, Math.min(WIDTH - 0.75, x))
}

interface Bar extends Omit<ExponentBin, 'exponent'> {
  readonly from: number
  readonly to: number
}

/** As many powers of two in a bar as it takes to fit. */
function barsOf(bins: readonly ExponentBin[], band: Band | null): Bar[] {
  if (bins.length === 0) return []
  const { first, last } = extent(bins, band)
  const span = last - first + 1
  const step = Math.ceil(span / MOST_BARS)
  const count = Math.max(8, Math.ceil(span / step))
  const bars = Array.from({ length: count }, (_, i) => {
    return { from: first + i * step, to: first + (i + 1) * step, within: 0, over: 0 }
  })
  for (const { exponent, within, over } of bins) {
    const bar = bars[Math.floor((exponent - first) / step)]!
    bar.within += within
    bar.over += over
  }
  return bars
}

/** Powers of two from the smallest to the largest error, and to the limits if they are not too far away. */
function extent(bins: readonly ExponentBin[], band: Band | null): { first: number; last: number } {
  const [least, most] = [bins[0]!.exponent, bins.at(-1)!.exponent]
  const near = (band ? [band.from, band.to] : []).map(Math.floor).filter((at) => at > least - FAR && at < most + FAR)
  return { first: Math.min(least, ...near.map((at) => at - 1)), last: Math.max(most, ...near.map((at) => at + 1)) }
}

/** What is allowed where the reference is zero, and where it is largest. */
function limitsIn({ maxReference }: Tally, limits: PairLimits): [number, number] {
  const allowed = allowance(limits)
  return [allowed(0), allowed(maxReference)]
}

/** Binary logarithms of the limits. */
interface Band {
  readonly from: number
  readonly to: number
}

function limitBand(tally: Tally, limits: PairLimits): Band | null {
  const [low, high] = limitsIn(tally, limits)
  return high === 0 ? null : { from: Math.log2(Math.max(low, 2 ** -1074)), to: Math.log2(high) }
}

function limitText(tally: Tally, limits: PairLimits): string {
  const [low, high] = limitsIn(tally, limits)
  if (high === 0) return 'no error is allowed'
  const range = low === high ? formatNumber(low) : `up to ${formatNumber(high)} (${formatNumber(low)} where r is 0)`
  return `allowed: ${range} · largest error ${formatNumber(tally.maxError)}`
}

function power(exponent: number): string {
  return formatNumber(2 ** exponent, 2)
}
