import type { DType } from '../../domain/dtype.ts'
import { requireElements, valuesPerElement } from '../../tensors/bytes.ts'
import { decodeDifferences, decodeNumbers } from '../../tensors/decode.ts'
import type { LayerKernels } from '../kernels/layer-contract.ts'
import * as of from '../kernels/layer-layout.ts'
import { BLOCK, CHUNK } from '../kernels/layout.ts'
import { layerKernelsInUse } from '../kernels/lend.ts'

/** Sums over what a layer gave on both sides, in float64. They grow with neither the tensor nor the number of calls. */
export interface LayerSums {
  /** Numbers that were compared; a complex one counts as two. */
  readonly count: number
  /** Of them, those that are finite on both sides; all sums are over these. */
  readonly finite: number
  readonly nonFinite: { readonly reference: number; readonly target: number; readonly mismatched: number }
  readonly maxAbs: number
  readonly abs: number
  readonly squares: { readonly difference: number; readonly reference: number; readonly target: number }
  readonly product: number
  /** Pairs of the same sign less pairs of opposite signs; zeros have none. */
  readonly signs: number
  readonly rows: RowSums
}

/** Rows lie along the last dimension. */
interface RowSums {
  readonly count: number
  /** A row that is zero on one side has no direction, so it is not among the cosines. */
  readonly zero: number
  readonly cosines: number
  /** null: every row is zero somewhere. */
  readonly leastCosine: number | null
}

export interface LayerDTypes {
  readonly reference: DType
  readonly target: DType
}

/** Measures a tensor of a layer as both sides compute it, stretch by stretch, in order. */
export class LayerMeter {
  readonly #dtypes: LayerDTypes
  readonly #parts: number
  readonly #rowLength: number
  readonly #kernels: LayerKernels
  readonly #state = new Float64Array(of.STATE_COUNT)

  /** Without rows, no cosines of rows are measured. */
  constructor(dtypes: LayerDTypes, rowLength: number | null, kernels = layerKernelsInUse()) {
    this.#dtypes = dtypes
    this.#parts = valuesPerElement(dtypes.reference)
    this.#rowLength = rowLength === null ? Infinity : rowLength * this.#parts
    this.#kernels = kernels
    this.#state[of.LEAST_COSINE] = 1
  }

  /** The next elements. */
  add(reference: Stretch, target: Stretch, elements: number): void {
    const { reference: dtype, target: other } = this.#dtypes
    const areFloats = dtype === 'float32' && other === 'float32'
    const atOnce = areFloats ? CHUNK : BLOCK / this.#parts
    this.#kernels.state.set(this.#state)
    for (let done = 0; done < elements; done += atOnce) {
      const count = Math.min(atOnce, elements - done)
      if (areFloats) this.#addFloats(reference, target, done, count)
      else this.#addNumbers(reference, target, done, count)
    }
    this.#state.set(this.#kernels.state)
  }

  get sums(): LayerSums {
    const state = this.#state
    const at = (place: number) => state[place]!
    return {
      count: at(of.COUNT),
      finite: at(of.FINITE),
      nonFinite: {
        reference: at(of.NONFINITE_REFERENCE),
        target: at(of.NONFINITE_TARGET),
        mismatched: at(of.NONFINITE_MISMATCH),
      },
      maxAbs: at(of.MAX_ABS),
      abs: at(of.ABS),
      squares: {
        difference: at(of.SQUARES_DIFFERENCE),
        reference: at(of.SQUARES_REFERENCE),
        target: at(of.SQUARES_TARGET),
      },
      product: at(of.PRODUCT),
      signs: at(of.SIGNS),
      rows: {
        count: at(of.ROWS),
        zero: at(of.ZERO_ROWS),
        cosines: at(of.COSINES),
        leastCosine: at(of.ROWS) > at(of.ZERO_ROWS) ? at(of.LEAST_COSINE) : null,
      },
    }
  }

  #addFloats(one: Stretch, two: Stretch, done: number, count: number): void {
    const { referenceChunk, targetChunk } = this.#kernels
    referenceChunk.set(floatBytes(one, done, count))
    targetChunk.set(floatBytes(two, done, count))
    this.#kernels.measureFloats(count, this.#rowLength)
  }

  #addNumbers(one: Stretch, two: Stretch, done: number, count: number): void {
    const { reference: dtype, target: other } = this.#dtypes
    const { reference, target, difference } = this.#kernels
    decodeNumbers(dtype, one.bytes, one.first + done, count, reference)
    decodeNumbers(other, two.bytes, two.first + done, count, target)
    if ((dtype === 'int64' || dtype === 'uint64') && other === dtype) {
      const [r, t] = [one, two].map(({ bytes, first }) => bytes.subarray((first + done) * 8))
      decodeDifferences(dtype, r!, t!, count, difference)
    } else {
      for (let i = 0; i < count * this.#parts; i++) difference[i] = target[i]! - reference[i]!
    }
    this.#kernels.measureNumbers(count * this.#parts, this.#rowLength)
  }
}

function floatBytes({ bytes, first }: Stretch, done: number, count: number): Uint8Array {
  requireElements('float32', bytes, first + done, count)
  return bytes.subarray((first + done) * 4, (first + done + count) * 4)
}

export interface Stretch {
  readonly bytes: Uint8Array
  /** The element to begin with. */
  readonly first: number
}
