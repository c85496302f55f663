import { elementCount } from '../domain/tensor.ts'
import type { IndexSelection } from './contract.ts'

/** Where the elements of an index output point to in the indexed tensor. */
export interface IndexLayout {
  /** The flat place that element `element` of the output selects; null if out of range. */
  placeOf(indices: Float64Array, element: number): number | null
  /** False for numbers that are not indices and must be equal: batch and class of NonMaxSuppression. */
  selects(element: number): boolean
}

/** Undefined if the output does not fit the indexed tensor; only row-major order counts, so a reshape is fine. */
export function planIndexLayout(
  selection: IndexSelection,
  indexedShape: readonly number[],
  outputShape: readonly number[],
): IndexLayout | undefined {
  const count = elementCount(outputShape)
  if (selection.op === 'NonMaxSuppression') return suppressionLayout(indexedShape, count)
  const axis = selection.axis < 0 ? selection.axis + indexedShape.length : selection.axis
  const size = indexedShape[axis]
  if (!Number.isInteger(axis) || size === undefined) return undefined
  const outer = elementCount(indexedShape.slice(0, axis))
  const inner = elementCount(indexedShape.slice(axis + 1))
  const perLane = count / (outer * inner)
  if (!Number.isInteger(perLane) || (selection.op !== 'TopK' && perLane !== 1)) return undefined
  return laneLayout(size, inner, perLane)
}

/** Output (outer, perLane, inner) over an indexed tensor (outer, size, inner). */
function laneLayout(size: number, inner: number, perLane: number): IndexLayout {
  return {
    selects: () => true,
    placeOf(indices, element) {
      const index = indices[element]!
      const outer = Math.floor(element / (perLane * inner))
      return isIndex(index, size) ? (outer * size + index) * inner + (element % inner) : null
    },
  }
}

/** Rows of batch, class and box over scores (batch, class, box). */
function suppressionLayout(scoresShape: readonly number[], count: number): IndexLayout | undefined {
  const [batches, classes, boxes] = scoresShape
  if (scoresShape.length !== 3 || count % 3 !== 0) return undefined
  if (batches === undefined || classes === undefined || boxes === undefined) return undefined
  return {
    selects: (element) => element % 3 === 2,
    placeOf(indices, element) {
      const row = element - (element % 3)
      const [batch, ofClass, box] = [indices[row]!, indices[row + 1]!, indices[row + 2]!]
      const isInside = isIndex(batch, batches) && isIndex(ofClass, classes) && isIndex(box, boxes)
      return isInside ? (batch * classes + ofClass) * boxes + box : null
    },
  }
}

function isIndex(index: number, size: number): boolean {
  return index >= 0 && index < size
}
