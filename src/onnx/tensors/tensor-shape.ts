import type { FormatError } from '../../domain/errors.ts'

const MAX_RANK = 64

/** Untrusted dimensions as numbers, with the number of elements. */
export function checkShape(
  dims: readonly bigint[],
  problem: (text: string) => FormatError,
): { shape: number[]; count: number } {
  if (dims.length > MAX_RANK) throw problem(`${dims.length} dimensions, at most ${MAX_RANK} are read`)
  const wrong = dims.find((dim) => dim < 0n || dim > BigInt(Number.MAX_SAFE_INTEGER))
  if (wrong !== undefined) throw problem(`a dimension of ${wrong}`)
  const shape = dims.map(Number)
  const count = shape.includes(0) ? 0 : shape.reduce((product, dim) => product * dim, 1)
  // Room for 16-byte elements without leaving exact numbers.
  if (count > Number.MAX_SAFE_INTEGER / 128) throw problem(`a shape of (${shape.join(', ')}), more than can be stored`)
  return { shape, count }
}
