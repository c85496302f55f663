import type { DType } from '../../domain/dtype.ts'
import { elementCount } from '../../domain/tensor.ts'
import { alignedBytes } from '../../tensors/bytes.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { surveyWords } from '../../tensors/reduce/word-kernel.ts'
import { elementBytes } from './trace-header.ts'

const BLOCK = 1 << 14
/** One block, for whoever surveys; nobody waits in between. */
const numbers = new Float64Array(BLOCK)

/** Without their sign, the codes of these dtypes are in the order of their magnitudes, up to this one of infinity. */
const INFINITY_CODES = { float32: 0x7f800000, float16: 0x7c00, bfloat16: 0x7f80 } as const

type OrderedDType = keyof typeof INFINITY_CODES

interface Found {
  readonly largest: number
  readonly zeros: number
  readonly areFinite: boolean
}

/** What the numbers of a float tensor are without their sign; its bytes come in pieces, cut anywhere. */
export class Magnitudes {
  #rest = new Uint8Array(0)
  #remaining: number
  #largest = 0
  #zeros: number | null = 0
  readonly #dtype: DType

  constructor(dtype: DType, shape: readonly number[]) {
    this.#dtype = dtype
    this.#remaining = elementCount(shape)
  }

  /** Of the finite ones. */
  get largest(): number {
    return this.#largest
  }

  /** How many are zero; null where not all are finite. */
  get zeros(): number | null {
    return this.#zeros
  }

  add(bytes: Uint8Array): void {
    const all = this.#rest.length > 0 ? joinBytes([this.#rest, bytes]) : bytes
    const size = elementBytes(this.#dtype)
    const whole = all.length - (all.length % size)
    this.#rest = all.slice(whole)
    const present = this.#dtype === 'float4e2m1' ? whole * 2 : whole / size
    const count = Math.min(present, this.#remaining)
    this.#remaining -= count
    if (isOrdered(this.#dtype)) this.#addCodes(this.#dtype, all, count)
    else this.#addNumbers(all, count)
  }

  #addCodes(dtype: OrderedDType, bytes: Uint8Array, count: number): void {
    const found = surveyCodes(dtype, bytes, count)
    const code = Uint32Array.of(found.largest)
    decodeNumbers(dtype, new Uint8Array(code.buffer), 0, 1, numbers)
    this.#keep({ ...found, largest: numbers[0]! })
  }

  #addNumbers(bytes: Uint8Array, count: number): void {
    for (let first = 0; first < count; first += BLOCK) {
      const length = Math.min(BLOCK, count - first)
      decodeNumbers(this.#dtype, bytes, first, length, numbers)
      this.#keep(surveyNumbers(length))
    }
  }

  #keep({ largest, zeros, areFinite }: Found): void {
    this.#largest = Math.max(this.#largest, largest)
    this.#zeros = areFinite && this.#zeros !== null ? this.#zeros + zeros : null
  }
}

function isOrdered(dtype: DType): dtype is OrderedDType {
  return Object.hasOwn(INFINITY_CODES, dtype)
}

/** Both sizes go through 32-bit words: one kind of typed array keeps the loops fast. */
function surveyCodes(dtype: OrderedDType, bytes: Uint8Array, count: number): Found {
  const infinity = INFINITY_CODES[dtype]
  const byteLength = count * elementBytes(dtype)
  const { buffer, byteOffset } = alignedBytes(bytes, 0, byteLength, 4)
  const words = new Int32Array(buffer, byteOffset, byteLength >> 2)
  if (dtype === 'float32') return surveySingles(bytes.subarray(0, byteLength), words, infinity)
  const found = surveyHalves(words, infinity)
  if (count % 2 === 0) return found
  const odd = (bytes[byteLength - 2]! | (bytes[byteLength - 1]! << 8)) & 0x7fff
  return {
    largest: Math.max(found.largest, odd < infinity ? odd : 0),
    zeros: found.zeros + (odd === 0 ? 1 : 0),
    areFinite: found.areFinite && odd < infinity,
  }
}

function surveySingles(bytes: Uint8Array, words: Int32Array, infinity: number): Found {
  const { largest, zeros } = surveyWords(bytes)
  if (largest < infinity) return { largest, zeros, areFinite: true }
  return { largest: largestWord(words, infinity), zeros, areFinite: false }
}

function largestWord(words: Int32Array, infinity: number): number {
  let found = 0
  for (let i = 0; i < words.length; i++) {
    const code = words[i]! & 0x7fffffff
    if (code > found && code < infinity) found = code
  }
  return found
}

function surveyHalves(words: Int32Array, infinity: number): Found {
  let [largest, zeros, beyond] = [0, 0, 0]
  for (let i = 0; i < words.length; i++) {
    for (const code of [words[i]! & 0x7fff, (words[i]! >>> 16) & 0x7fff]) {
      if (code >= infinity) beyond++
      else largest = Math.max(largest, code)
      zeros += (code - 1) >>> 31
    }
  }
  return { largest, zeros, areFinite: beyond === 0 }
}

function surveyNumbers(length: number): Found {
  let [largest, zeros, beyond] = [0, 0, 0]
  for (let i = 0; i < length; i++) {
    const magnitude = Math.abs(numbers[i]!)
    if (!(magnitude < Infinity)) beyond++
    else largest = Math.max(largest, magnitude)
    if (magnitude === 0) zeros++
  }
  return { largest, zeros, areFinite: beyond === 0 }
}
