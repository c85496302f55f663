import type { Metric } from '../../domain/result.ts'
import { metricMaker } from '../pairs/metrics.ts'
import { computeCosine } from './cosine.ts'
import type { LayerSums } from './layer-meter.ts'

const NOTHING_FINITE = 'no value is finite on both sides'

/** What is known of a layer, from its sums; a number that cannot be computed says why. */
export function layerMetrics(sums: LayerSums): Metric[] {
  const { count, finite, nonFinite, rows, squares } = sums
  const make = metricMaker({})
  const overFinite = (name: string, direction: Metric['direction'], compute: () => number | null, reason?: string) =>
    make(name, direction, finite === 0 ? null : compute(), finite, finite === 0 ? NOTHING_FINITE : reason)
  const fromSquares = (name: string, direction: Metric['direction'], compute: () => number | null, reason?: string) =>
    overFinite(name, direction, () => (fitFloat64(sums) ? compute() : null), fitFloat64(sums) ? reason : BEYOND)
  const cosines = rows.count - rows.zero
  return [
    overFinite('mean_abs', 'lower', () => sums.abs / finite),
    overFinite('max_abs', 'lower', () => sums.maxAbs),
    fromSquares('l2', 'lower', () => Math.sqrt(squares.difference)),
    fromSquares('rmse', 'lower', () => Math.sqrt(squares.difference / finite)),
    fromSquares('rel_l2', 'lower', () => relativeError(sums)),
    fromSquares('snr_db', 'higher', () => 20 * Math.log10(1 / relativeError(sums))),
    fromSquares('cosine', 'higher', () => wholeCosine(sums), 'one side is zero everywhere'),
    make('row_cosine', 'higher', cosines === 0 ? null : rows.cosines / cosines, cosines, ZERO_ROWS),
    make('least_row_cosine', 'higher', rows.leastCosine, cosines, ZERO_ROWS),
    make('zero_rows', 'lower', rows.zero, rows.count),
    overFinite('sign_agreement', 'higher', () => sums.signs / finite),
    make('nonfinite_reference', 'lower', nonFinite.reference, count),
    make('nonfinite_target', 'lower', nonFinite.target, count),
    make('nonfinite_mismatch', 'lower', nonFinite.mismatched, count),
  ]
}

const BEYOND = 'squares of these numbers are beyond float64'

/** Of float64 alone, squares may be infinite, or zero where the numbers are not. */
function fitFloat64({ squares, abs }: LayerSums): boolean {
  const { difference, reference, target } = squares
  return difference + reference + target < Infinity && (difference > 0 || abs === 0)
}

const ZERO_ROWS = 'every row is zero on one side'

/** 0 for equal sides, infinite where only the reference is zero everywhere. */
function relativeError({ squares: { difference, reference } }: LayerSums): number {
  return difference === 0 ? 0 : Math.sqrt(difference) / Math.sqrt(reference)
}

function wholeCosine({ squares: { reference, target }, product }: LayerSums): number | null {
  return computeCosine(reference, target, product)
}
