import type { DType } from '../domain/dtype.ts'
import { elementCount } from '../domain/tensor.ts'
import { decodeNumbers } from '../tensors/decode.ts'
import { joinBytes } from './join-bytes.ts'
import { elementBytes } from './trace-header.ts'

const BLOCK = 1 << 14

/** Largest finite magnitude of a float tensor whose bytes come in pieces, cut anywhere. */
export class LargestMagnitude {
  value = 0
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
    this.scan(all.subarray(0, whole), this.dtype === 'float4e2m1' ? whole * 2 : whole / size)
  }

  private scan(bytes: Uint8Array, present: number): void {
    const count = Math.min(present, this.remaining)
    this.remaining -= count
    for (let first = 0; first < count; first += BLOCK) {
      const length = Math.min(BLOCK, count - first)
      decodeNumbers(this.dtype, bytes, first, length, this.numbers)
      this.value = largest(this.numbers, length, this.value)
    }
  }
}

function largest(numbers: Float64Array, length: number, start: number): number {
  let found = start
  for (let i = 0; i < length; i++) {
    const magnitude = Math.abs(numbers[i]!)
    if (magnitude > found && magnitude < Infinity) found = magnitude
  }
  return found
}
