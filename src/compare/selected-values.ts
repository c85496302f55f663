import { dtypeKind } from '../domain/dtype.ts'
import { elementCount, type TensorSource } from '../domain/tensor.ts'
import { decodeBigInts, decodeNumbers } from '../tensors/decode.ts'
import { formatElement } from '../tensors/format-element.ts'
import { ulpSize } from '../tensors/ulp.ts'
import type { Tolerance } from './contract.ts'
import { ByteReader } from './pairs/byte-reader.ts'
import { measureMaxAbs } from './pairs/max-abs.ts'

/** All bytes of a tensor that must be read out of order. */
export async function readWhole(source: TensorSource, side: 'reference' | 'target'): Promise<Uint8Array> {
  const reader = new ByteReader(source, side)
  const bytes = await reader.take(source.byteLength)
  await reader.end()
  return bytes
}

/** The indexed tensor in memory, and how far apart two of its values may lie. */
export class SelectedValues {
  readonly hasScale: boolean
  readonly maxAbs: number
  readonly count: number
  readonly #source: TensorSource
  readonly #bytes: Uint8Array
  readonly #tolerance: Tolerance
  readonly #scratch = new Float64Array(1)

  private constructor(source: TensorSource, bytes: Uint8Array, maxAbs: number, tolerance: Tolerance) {
    this.#source = source
    this.#bytes = bytes
    this.#tolerance = tolerance
    this.maxAbs = maxAbs
    this.count = elementCount(source.shape)
    this.hasScale = maxAbs > 0 && this.count > 1
  }

  static async read(source: TensorSource, tolerance: Tolerance): Promise<SelectedValues> {
    const maxAbs = await measureMaxAbs(source)
    return new SelectedValues(source, await readWhole(source, 'reference'), maxAbs, tolerance)
  }

  format(place: number): string {
    return formatElement(this.#source.dtype, this.#bytes, place)
  }

  /** Distance of two values; 0 for two NaN or the same infinity, NaN or infinite where only one is. */
  distance(place: number, otherPlace: number): number {
    const { dtype } = this.#source
    if (dtype === 'int64' || dtype === 'uint64') {
      const [a, b] = [
        decodeBigInts(dtype, this.#bytes, place, 1)[0]!,
        decodeBigInts(dtype, this.#bytes, otherPlace, 1)[0]!,
      ]
      return Number(a < b ? b - a : a - b)
    }
    const [a, b] = [this.#numberAt(place), this.#numberAt(otherPlace)]
    return Object.is(a, b) ? 0 : Math.abs(a - b)
  }

  isNaN(place: number): boolean {
    return Number.isNaN(this.#numberAt(place))
  }

  /** How far a value may be from the one at `place`; 0 for integers. */
  allowedAt(place: number): number {
    const { dtype } = this.#source
    if (dtypeKind(dtype) !== 'float') return 0
    const { rtol, atol, scale, floor, rounding, storageUlps } = this.#tolerance
    const value = Math.abs(this.#numberAt(place))
    if (!Number.isFinite(value)) return 0
    const limit = rtol * value + atol + rounding + (this.hasScale ? scale * this.maxAbs : floor)
    return Math.max(limit, storageUlps * ulpSize(dtype, value))
  }

  #numberAt(place: number): number {
    decodeNumbers(this.#source.dtype, this.#bytes, place, 1, this.#scratch)
    return this.#scratch[0]!
  }
}
