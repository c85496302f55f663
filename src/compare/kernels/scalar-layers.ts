import { computeCosine } from '../layers/cosine.ts'
import type { LayerKernels } from './layer-contract.ts'
import * as of from './layer-layout.ts'
import { BLOCK, CHUNK } from './layout.ts'

type Numbers = Float32Array | Float64Array

/** Without WebAssembly; the same results to the bit. */
export class ScalarLayerKernels implements LayerKernels {
  readonly name = 'scalar'
  readonly state = new Float64Array(of.STATE_COUNT)
  readonly reference = new Float64Array(BLOCK)
  readonly target = new Float64Array(BLOCK)
  readonly difference = new Float64Array(BLOCK)
  readonly #referenceFloats = new Float32Array(CHUNK)
  readonly #targetFloats = new Float32Array(CHUNK)
  readonly referenceChunk = new Uint8Array(this.#referenceFloats.buffer)
  readonly targetChunk = new Uint8Array(this.#targetFloats.buffer)

  measureFloats(count: number, rowLength: number): void {
    this.#measure(this.#referenceFloats, this.#targetFloats, null, count, rowLength)
  }

  measureNumbers(count: number, rowLength: number): void {
    this.#measure(this.reference, this.target, this.difference, count, rowLength)
  }

  #measure(reference: Numbers, target: Numbers, difference: Numbers | null, count: number, rowLength: number): void {
    const { state } = this
    for (let first = 0; first < count; ) {
      const numbers = Math.min(count - first, rowLength - state[of.IN_ROW]!)
      this.#addPart(reference, target, difference, first, numbers)
      state[of.IN_ROW]! += numbers
      if (state[of.IN_ROW] === rowLength) this.#endRow()
      first += numbers
    }
  }

  /** A stretch of one row. Numbers at even and at odd places have sums of their own, as two lanes of the other kernel. */
  #addPart(reference: Numbers, target: Numbers, difference: Numbers | null, first: number, numbers: number): void {
    const { state } = this
    const [abs, dd, rr, tt, rt] = [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ] as [number, number][]
    let [finite, maxAbs, signs] = [0, state[of.MAX_ABS]!, 0]
    for (let i = 0; i < numbers; i++) {
      const [r, t] = [reference[first + i]!, target[first + i]!]
      if (r - r !== 0 || t - t !== 0) {
        this.#countNonFinite(r, t)
        continue
      }
      const d = difference ? difference[first + i]! : t - r
      const error = Math.abs(d)
      const lane = (i & 1) as 0 | 1
      finite++
      if (error > maxAbs) maxAbs = error
      abs![lane] += error
      dd![lane] += d * d
      rr![lane] += r * r
      tt![lane] += t * t
      rt![lane] += r * t
      signs += Math.sign(r) * Math.sign(t)
    }
    const sum = ([even, odd]: [number, number]) => even + odd
    state[of.COUNT]! += numbers
    state[of.FINITE]! += finite
    state[of.MAX_ABS] = maxAbs
    state[of.ABS]! += sum(abs!)
    state[of.SIGNS]! += signs
    state[of.SQUARES_DIFFERENCE]! += sum(dd!)
    for (const [whole, row, lanes] of [
      [of.SQUARES_REFERENCE, of.ROW_REFERENCE, rr!],
      [of.SQUARES_TARGET, of.ROW_TARGET, tt!],
      [of.PRODUCT, of.ROW_PRODUCT, rt!],
    ] as const) {
      state[whole]! += sum(lanes)
      state[row]! += sum(lanes)
    }
  }

  #countNonFinite(r: number, t: number): void {
    const { state } = this
    if (!Number.isFinite(r)) state[of.NONFINITE_REFERENCE]!++
    if (!Number.isFinite(t)) state[of.NONFINITE_TARGET]!++
    if (!Object.is(r, t)) state[of.NONFINITE_MISMATCH]!++
  }

  #endRow(): void {
    const { state } = this
    const cosine = computeCosine(state[of.ROW_REFERENCE]!, state[of.ROW_TARGET]!, state[of.ROW_PRODUCT]!)
    state[of.ROWS]!++
    if (cosine === null) state[of.ZERO_ROWS]!++
    else {
      state[of.COSINES]! += cosine
      state[of.LEAST_COSINE] = Math.min(state[of.LEAST_COSINE]!, cosine)
    }
    for (const place of [of.IN_ROW, of.ROW_REFERENCE, of.ROW_TARGET, of.ROW_PRODUCT]) state[place] = 0
  }
}
