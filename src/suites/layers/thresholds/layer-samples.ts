import type { LayerRow } from '../layers-file.ts'

/** What a baseline gave for a layer in one call. */
export interface LayerSample {
  /** With call and element, as in `layers.json`. */
  readonly name: string
  /** null: nobody recorded it. */
  readonly shape: readonly number[] | null
  /** null: not measured. */
  readonly metrics: Readonly<Record<string, number | null>>
  /** Of the differences. */
  readonly squares: Pooled
  /** Pairs of the same sign less pairs of opposite signs. */
  readonly signs: Pooled
  /** Cosines of rows. */
  readonly rows: Pooled
}

/** A sum over so many numbers, which those of other calls are added to. */
export interface Measured {
  readonly sum: number
  readonly count: number
}

export interface Unmeasured {
  readonly why: string
}

export type Pooled = Measured | Unmeasured

/** From the figures that are kept of a layer. */
export function sampleRow(row: LayerRow): LayerSample {
  const { name, shape, metrics } = row
  const why = whyUnmeasured(row)
  const finite = row.count - (metrics.nonfinite_reference ?? 0)
  const pool = (metric: string, count: number, sumOf: (value: number) => number): Pooled => {
    const value = metrics[metric] ?? null
    if (why !== null) return { why }
    if (row.count === 0) return { sum: 0, count: 0 }
    return value === null || !Number.isFinite(value)
      ? { why: `${metric} was not measured` }
      : { sum: sumOf(value), count }
  }
  const rows = countRows(row)
  return {
    name,
    shape,
    metrics,
    squares: pool('l2', finite, (l2) => l2 * l2),
    signs: pool('sign_agreement', finite, (agreement) => agreement * finite),
    rows: pool('row_cosine', rows, (cosine) => cosine * rows),
  }
}

/** Infinities that both sides give are no difference. */
function whyUnmeasured({ problem, metrics }: LayerRow): string | null {
  if (problem !== undefined) return problem
  const mismatched = metrics.nonfinite_mismatch ?? 0
  return mismatched > 0 ? `${mismatched} values are not finite on one side alone` : null
}

/** Those that have a cosine. */
function countRows({ shape, count, metrics }: LayerRow): number {
  return count / Math.max(1, shape.at(-1) ?? 1) - (metrics.zero_rows ?? 0)
}
