import { elementCount } from '../../domain/tensor.ts'

/** 1 for a token, 0 for padding: one row for each sequence of the batch. */
export type PaddingMask = readonly (readonly number[])[]

/** Elements from `start` to `end`, which is not one of them. */
export interface ElementRange {
  readonly start: number
  readonly end: number
}

/** Dimensions that a sequence can be: (batch, sequence, …) and, of attention, (batch, heads, sequence, …). */
const SEQUENCE_AXES = [1, 2]

/** Elements of a tensor that belong to tokens, in order; null: padding has no place in it, so all of them. */
export function findRealElements(shape: readonly number[], mask: PaddingMask | null): ElementRange[] | null {
  if (mask === null || mask.every((row) => row.every(Boolean))) return null
  const axis = SEQUENCE_AXES.find((candidate) => isSequence(shape, candidate, mask))
  if (axis === undefined) return null
  const between = elementCount(shape.slice(1, axis))
  const inner = elementCount(shape.slice(axis + 1))
  const length = shape[axis]!
  return mask.flatMap((row, batch) => {
    const starts = Array.from({ length: between }, (_, i) => (batch * between + i) * length)
    return starts.flatMap((start) => rangesIn(row, start, inner))
  })
}

function isSequence(shape: readonly number[], axis: number, mask: PaddingMask): boolean {
  // (batch, features, frames) is no attention.
  if (axis === 2 && shape.length !== 4) return false
  return shape[0] === mask.length && shape[axis] === mask[0]?.length
}

function rangesIn(row: readonly number[], first: number, inner: number): ElementRange[] {
  const ranges: { start: number; end: number }[] = []
  for (const [position, isReal] of row.entries()) {
    if (!isReal) continue
    const start = (first + position) * inner
    const last = ranges.at(-1)
    if (last?.end === start) last.end = start + inner
    else ranges.push({ start, end: start + inner })
  }
  return ranges
}
