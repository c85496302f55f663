import type { TensorSource } from '../../domain/tensor.ts'
import { valuesPerElement } from '../../tensors/bytes.ts'
import { decodeDifferences, decodeNumbers } from '../../tensors/decode.ts'
import { CHUNK } from '../kernels/layout.ts'
import { pairChunks } from './pair-chunks.ts'

/** Up to this many numbers are sorted at once. */
const SORTED = 1 << 20
const DIGITS = 65536

/** The numbers whose float64, read as an integer, begins with these digits of 16 bits. */
type Prefix = readonly number[]

/**
 * The exact q-quantile by nearest rank of |t − r|, or of |t − r| / |r| where r is not zero, over the places that are
 * finite on both sides; null if there are none. Reads both tensors two to five times and holds none of them.
 */
export async function exactQuantile(
  reference: TensorSource,
  target: TensorSource,
  error: 'absolute' | 'relative',
  q: number,
): Promise<number | null> {
  const errors = () => errorBlocks(reference, target, error)
  let prefix: Prefix = []
  let rank: number | null = null
  for (;;) {
    const counts = await countDigits(errors(), prefix)
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total === 0) return null
    rank ??= Math.max(1, Math.ceil(q * total))
    let digit = 0
    for (; rank > counts[digit]!; digit++) rank -= counts[digit]!
    prefix = [...prefix, digit]
    if (prefix.length === 4 || counts[digit]! <= SORTED) return atRank(errors(), prefix, rank, counts[digit]!)
  }
}

async function countDigits(blocks: AsyncIterable<Float64Array>, prefix: Prefix): Promise<Float64Array> {
  const counts = new Float64Array(DIGITS)
  for await (const errors of blocks) {
    const digits = digitsOf(errors)
    for (let i = 0; i < errors.length; i++)
      if (hasPrefix(digits, i, prefix)) counts[digits[4 * i + 3 - prefix.length]!]!++
  }
  return counts
}

async function atRank(
  blocks: AsyncIterable<Float64Array>,
  prefix: Prefix,
  rank: number,
  count: number,
): Promise<number> {
  const found = new Float64Array(Math.min(count, SORTED))
  let length = 0
  for await (const errors of blocks) {
    const digits = digitsOf(errors)
    for (let i = 0; i < errors.length && length < found.length; i++)
      if (hasPrefix(digits, i, prefix)) found[length++] = errors[i]!
  }
  // If more than that remain, all their digits are equal.
  return found.sort()[Math.min(rank, length) - 1]!
}

/** Digits of 16 bits, the lowest first. */
function digitsOf(errors: Float64Array): Uint16Array {
  return new Uint16Array(errors.buffer, errors.byteOffset, errors.length * 4)
}

function hasPrefix(digits: Uint16Array, i: number, prefix: Prefix): boolean {
  for (let k = 0; k < prefix.length; k++) if (digits[4 * i + 3 - k] !== prefix[k]) return false
  return true
}

/** The errors of finite pairs, in an array that is valid until the next one. */
async function* errorBlocks(
  reference: TensorSource,
  target: TensorSource,
  error: 'absolute' | 'relative',
): AsyncIterable<Float64Array> {
  const parts = valuesPerElement(reference.dtype)
  const [r, t, errors] = [0, 1, 2].map(() => new Float64Array(CHUNK * parts)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  for await (const { elements, referenceBytes, targetBytes } of pairChunks(reference, target)) {
    decodeNumbers(reference.dtype, referenceBytes, 0, elements, r)
    decodeNumbers(target.dtype, targetBytes, 0, elements, t)
    if (reference.dtype === 'int64' || reference.dtype === 'uint64') {
      decodeDifferences(reference.dtype, referenceBytes, targetBytes, elements, errors)
    } else {
      for (let i = 0; i < elements * parts; i++) errors[i] = t[i]! - r[i]!
    }
    let count = 0
    for (let i = 0; i < elements * parts; i++) {
      if (r[i]! - r[i]! !== 0 || t[i]! - t[i]! !== 0 || (error === 'relative' && r[i] === 0)) continue
      errors[count++] = error === 'absolute' ? Math.abs(errors[i]!) : Math.abs(errors[i]!) / Math.abs(r[i]!)
    }
    yield errors.subarray(0, count)
  }
}
