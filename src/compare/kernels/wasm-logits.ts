import type { LogitKernels, LogitRows, RowPeaks, RowSums } from './logits-contract.ts'
import * as at from './logits-layout.ts'
import { middleDifference, moveSums } from './moved-sums.ts'
import { TokenSums } from './token-sums.ts'
import { instantiate } from './wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  findPeaks(size: number): void
  addRow(size: number, middle: number): void
  addDistances(size: number, constant: number): number
}

/** A row of both sides in the kernel's memory, as it is and up to the end of its last run. */
interface PlacedRow extends LogitRows {
  readonly whole: readonly Float32Array[]
  readonly peaks: Float32Array
}

const PAGE_BYTES = 65536

export class WasmLogitKernels implements LogitKernels {
  readonly name = 'wasm'
  readonly #exports: Exports
  #results = new Float64Array()
  #heavyRuns = new Int32Array()
  #row: PlacedRow
  /** Tokens that the kernel leaves out. */
  readonly #heavy = new TokenSums(at.MOST_HEAVY * at.ROW_RUN)
  /** What a weight of 1 in the kernel's memory stands for. */
  #unit = 1

  constructor(exports: Exports) {
    this.#exports = exports
    this.#row = this.#makeRoom(0)
  }

  static async load(): Promise<WasmLogitKernels> {
    return new WasmLogitKernels(await instantiate<Exports>())
  }

  rows(size: number): LogitRows {
    if (this.#row.reference.length !== size) this.#row = this.#makeRoom(size)
    return this.#row
  }

  #makeRoom(size: number): PlacedRow {
    const { memory } = this.#exports
    const runs = Math.ceil(size / at.ROW_RUN)
    const padded = runs * at.ROW_RUN
    const reference = at.ROWS + at.ROW_LEAD * 4
    const target = reference + (padded + at.ROW_LEAD) * 4
    const peaks = target + padded * 4
    const missing = peaks + runs * 8 - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES))
    const { buffer } = memory
    this.#results = new Float64Array(buffer, at.ROW_RESULTS, at.ROW_RESULT_COUNT)
    this.#heavyRuns = new Int32Array(buffer, at.HEAVY_RUNS, at.MOST_HEAVY)
    return {
      reference: new Float32Array(buffer, reference, size),
      target: new Float32Array(buffer, target, size),
      whole: [reference, target].map((place) => new Float32Array(buffer, place, padded)),
      peaks: new Float32Array(buffer, peaks, runs),
    }
  }

  findPeaks(size: number): RowPeaks | null {
    for (const row of this.#row.whole) row.fill(row[0]!, size)
    this.#exports.findPeaks(size)
    const results = this.#results
    if (results[at.FLAGGED] !== 0) return null
    return {
      argMaxReference: results[at.ARG_MAX_REFERENCE]!,
      argMaxTarget: results[at.ARG_MAX_TARGET]!,
      peaks: this.#row.peaks,
    }
  }

  addRow(size: number): RowSums | null {
    if (!this.#addHeavy(size)) return null
    this.#exports.addRow(size, middleDifference(this.#row))
    if (this.#results[at.FLAGGED] !== 0) return null
    this.#unit = Math.exp(this.#results[at.LOG_UNIT]!)
    const light = this.#lightSums(size - 1 - this.#heavy.others)
    const heavy = this.#heavy.sums
    return {
      weight: light.weight + heavy.weight,
      weightTarget: light.weightTarget + heavy.weightTarget,
      weightDifference: light.weightDifference + heavy.weightDifference,
      weightCurve: light.weightCurve + heavy.weightCurve,
      ratio: light.ratio + heavy.ratio,
      ratioSquared: light.ratioSquared + heavy.ratioSquared,
    }
  }

  /** Where few tokens hold most of the weight, float32 has nothing to average its roundings over; those are done in float64. */
  #addHeavy(size: number): boolean {
    const { [at.HEAVY_COUNT]: count, [at.HEAVY_LEAST]: least } = this.#results
    this.#heavy.begin(this.#row, this.#results[at.ARG_MAX_TARGET]!)
    for (let i = 0; i < count!; i++) {
      const first = this.#heavyRuns[i]! * at.ROW_RUN
      if (!this.#heavy.add(first, Math.min(size, first + at.ROW_RUN), least)) return false
    }
    return true
  }

  /** Of the `count` tokens that the kernel added up. */
  #lightSums(count: number): RowSums {
    const [results, unit] = [this.#results, this.#unit]
    return moveSums(
      {
        weight: results[at.WEIGHT]! * unit,
        weightTarget: results[at.WEIGHT_TARGET]! * unit,
        weightDifference: results[at.WEIGHT_DIFFERENCE]! * unit,
        weightCurve: results[at.WEIGHT_CURVE]! * unit,
        ratio: results[at.RATIO]!,
        ratioSquared: results[at.RATIO_SQUARED]!,
      },
      count,
      results[at.MOVE]!,
    )
  }

  addDistances(size: number, scale: number, constant: number): number {
    const move = this.#results[at.MOVE]!
    const slope = scale * Math.exp(-move)
    const moved = constant + scale * Math.expm1(-move)
    const light = this.#exports.addDistances(size, moved / slope) * slope * this.#unit
    return light + this.#heavy.distances(scale, constant)
  }
}
