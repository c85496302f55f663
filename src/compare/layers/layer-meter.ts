import type { DType } from '../../domain/dtype.ts'
import { valuesPerElement } from '../../tensors/bytes.ts'
import { decodeDifferences, decodeNumbers } from '../../tensors/decode.ts'

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

/** Numbers that are decoded at once. */
const BLOCK = 8192

/** Measures a tensor of a layer as both sides compute it, stretch by stretch, in order. */
export class LayerMeter {
  readonly #dtypes: LayerDTypes
  readonly #parts: number
  readonly #rowLength: number | null
  readonly #room: readonly [reference: Float64Array, target: Float64Array, difference: Float64Array]
  #count = 0
  #finite = 0
  readonly #nonFinite = { reference: 0, target: 0, mismatched: 0 }
  #maxAbs = 0
  #abs = 0
  readonly #squares = { difference: 0, reference: 0, target: 0 }
  #product = 0
  #signs = 0
  #inRow = 0
  readonly #row = { reference: 0, target: 0, product: 0 }
  readonly #rows = { count: 0, zero: 0, cosines: 0, leastCosine: null as number | null }

  /** Without rows, no cosines of rows are measured. */
  constructor(dtypes: LayerDTypes, rowLength: number | null) {
    this.#dtypes = dtypes
    this.#parts = valuesPerElement(dtypes.reference)
    this.#rowLength = rowLength === null ? null : rowLength * this.#parts
    const room = () => new Float64Array(BLOCK)
    this.#room = [room(), room(), room()]
  }

  /** The next elements. */
  add(reference: Stretch, target: Stretch, elements: number): void {
    const atOnce = BLOCK / this.#parts
    for (let done = 0; done < elements; done += atOnce) {
      const count = Math.min(atOnce, elements - done)
      this.#decode(reference, target, done, count)
      this.#measure(count * this.#parts)
    }
  }

  get sums(): LayerSums {
    return {
      count: this.#count,
      finite: this.#finite,
      nonFinite: { ...this.#nonFinite },
      maxAbs: this.#maxAbs,
      abs: this.#abs,
      squares: { ...this.#squares },
      product: this.#product,
      signs: this.#signs,
      rows: { ...this.#rows },
    }
  }

  #decode(one: Stretch, two: Stretch, done: number, count: number): void {
    const { reference: dtype, target: other } = this.#dtypes
    const [reference, target, difference] = this.#room
    decodeNumbers(dtype, one.bytes, one.first + done, count, reference)
    decodeNumbers(other, two.bytes, two.first + done, count, target)
    if ((dtype === 'int64' || dtype === 'uint64') && other === dtype) {
      const [r, t] = [one, two].map(({ bytes, first }) => bytes.subarray((first + done) * 8))
      decodeDifferences(dtype, r!, t!, count, difference)
    } else {
      for (let i = 0; i < count * this.#parts; i++) difference[i] = target[i]! - reference[i]!
    }
  }

  #measure(numbers: number): void {
    const rowLength = this.#rowLength ?? Infinity
    for (let first = 0; first < numbers; ) {
      const end = Math.min(numbers, first + rowLength - this.#inRow)
      this.#measureRowPart(first, end)
      this.#inRow += end - first
      if (this.#inRow === rowLength) this.#endRow()
      first = end
    }
  }

  #measureRowPart(first: number, end: number): void {
    const [reference, target, difference] = this.#room
    let [finite, maxAbs, abs, signs] = [0, this.#maxAbs, 0, 0]
    let [dd, rr, tt, rt] = [0, 0, 0, 0]
    for (let i = first; i < end; i++) {
      const [r, t, d] = [reference[i]!, target[i]!, difference[i]!]
      if (r - r !== 0 || t - t !== 0) {
        this.#countNonFinite(r, t)
        continue
      }
      finite++
      const error = Math.abs(d)
      if (error > maxAbs) maxAbs = error
      abs += error
      dd += d * d
      rr += r * r
      tt += t * t
      rt += r * t
      signs += Math.sign(r) * Math.sign(t)
    }
    this.#count += end - first
    this.#finite += finite
    this.#maxAbs = maxAbs
    this.#abs += abs
    this.#signs += signs
    this.#product += rt
    this.#squares.difference += dd
    this.#squares.reference += rr
    this.#squares.target += tt
    this.#row.reference += rr
    this.#row.target += tt
    this.#row.product += rt
  }

  #endRow(): void {
    const { reference, target, product } = this.#row
    const rows = this.#rows
    rows.count++
    const cosine = computeCosine(reference, target, product)
    if (cosine === null) rows.zero++
    else {
      rows.cosines += cosine
      rows.leastCosine = Math.min(rows.leastCosine ?? 1, cosine)
    }
    this.#inRow = 0
    Object.assign(this.#row, { reference: 0, target: 0, product: 0 })
  }

  #countNonFinite(r: number, t: number): void {
    const counts = this.#nonFinite
    if (!Number.isFinite(r)) counts.reference++
    if (!Number.isFinite(t)) counts.target++
    if (!Object.is(r, t)) counts.mismatched++
  }
}

export interface Stretch {
  readonly bytes: Uint8Array
  /** The element to begin with. */
  readonly first: number
}

/** Within −1 and 1; null if one of the vectors is zero, or too large for its squares. */
export function computeCosine(reference: number, target: number, product: number): number | null {
  if (reference === 0 || target === 0 || reference + target === Infinity) return null
  const squares = reference * target
  // Exact for equal sides, unless the squares leave float64.
  const norms = squares > 0 && squares < Infinity ? Math.sqrt(squares) : Math.sqrt(reference) * Math.sqrt(target)
  return Math.max(-1, Math.min(1, product / norms))
}
