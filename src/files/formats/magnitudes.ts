import type { DType } from '../../domain/dtype.ts'
import { elementCount } from '../../domain/tensor.ts'
import { alignedBytes } from '../../tensors/bytes.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { elementBytes } from './trace-header.ts'

const BLOCK = 1 << 14

/** Without their sign, the codes of these dtypes are in the order of their magnitudes, up to this one of infinity. */
const INFINITY_CODES = { float32: 0x7f800000, float16: 0x7c00, bfloat16: 0x7f80 } as const

type OrderedDType = keyof typeof INFINITY_CODES

/** Largest finite magnitude of a float tensor whose bytes come in pieces, cut anywhere. */
export class Magnitudes {
  largest = 0
  private rest = new Uint8Array(0)
  private remaining: number
  private readonly dtype: DType
  private readonly numbers = new Float64Array(BLOCK)

  constructor(dtype: DType, shape: readonly number[]) {
    this.dtype = dtype
    this.remaining = elementCount(shape)
  }

  add(bytes: Uint8Array): void {
    const all = this.rest.length > 0 ? joinBytes([this.rest, bytes]) : bytes
    const size = elementBytes(this.dtype)
    const whole = all.length - (all.length % size)
    this.rest = all.slice(whole)
    const present = this.dtype === 'float4e2m1' ? whole * 2 : whole / size
    const count = Math.min(present, this.remaining)
    this.remaining -= count
    if (isOrdered(this.dtype)) this.addCodes(this.dtype, all, count)
    else this.addNumbers(all, count)
  }

  private addCodes(dtype: OrderedDType, bytes: Uint8Array, count: number): void {
    const code = Uint32Array.of(largestCode(dtype, bytes, count))
    decodeNumbers(dtype, new Uint8Array(code.buffer), 0, 1, this.numbers)
    this.largest = largestIn(this.numbers, 1, this.largest)
  }

  private addNumbers(bytes: Uint8Array, count: number): void {
    for (let first = 0; first < count; first += BLOCK) {
      const length = Math.min(BLOCK, count - first)
      decodeNumbers(this.dtype, bytes, first, length, this.numbers)
      this.largest = largestIn(this.numbers, length, this.largest)
    }
  }
}

function isOrdered(dtype: DType): dtype is OrderedDType {
  return Object.hasOwn(INFINITY_CODES, dtype)
}

/** Both sizes go through 32-bit words: one kind of typed array keeps the loops fast. */
function largestCode(dtype: OrderedDType, bytes: Uint8Array, count: number): number {
  const infinity = INFINITY_CODES[dtype]
  const byteLength = count * elementBytes(dtype)
  const { buffer, byteOffset } = alignedBytes(bytes, 0, byteLength, 4)
  const words = new Int32Array(buffer, byteOffset, byteLength >> 2)
  if (dtype === 'float32') return largestWord(words, infinity)
  const odd = count % 2 === 0 ? 0 : (bytes[byteLength - 2]! | (bytes[byteLength - 1]! << 8)) & 0x7fff
  return Math.max(largestHalf(words, infinity), odd < infinity ? odd : 0)
}

function largestWord(words: Int32Array, infinity: number): number {
  let found = 0
  for (let i = 0; i < words.length; i++) {
    const code = words[i]! & 0x7fffffff
    if (code > found && code < infinity) found = code
  }
  return found
}

function largestHalf(words: Int32Array, infinity: number): number {
  let found = 0
  for (let i = 0; i < words.length; i++) {
    const low = words[i]! & 0x7fff
    const high = (words[i]! >>> 16) & 0x7fff
    if (low > found && low < infinity) found = low
    if (high > found && high < infinity) found = high
  }
  return found
}

function largestIn(numbers: Float64Array, length: number, start: number): number {
  let found = start
  for (let i = 0; i < length; i++) {
    const magnitude = Math.abs(numbers[i]!)
    if (magnitude > found && magnitude < Infinity) found = magnitude
  }
  return found
}
