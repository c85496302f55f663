/** Within −1 and 1; null if one of the vectors is zero, or too large for its squares. */
export function computeCosine(reference: number, target: number, product: number): number | null {
  if (reference === 0 || target === 0 || reference + target === Infinity) return null
  const squares = reference * target
  // Exact for equal sides, unless the squares leave float64.
  const norms = squares > 0 && squares < Infinity ? Math.sqrt(squares) : Math.sqrt(reference) * Math.sqrt(target)
  return Math.max(-1, Math.min(1, product / norms))
}
