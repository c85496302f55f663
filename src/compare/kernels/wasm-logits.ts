import type { LogitKernels, RowSums } from './logits-contract.ts'
import * as at from './logits-layout.ts'
import { middleDifference, moveSums } from './moved-sums.ts'
import { TokenSums } from './token-sums.ts'
import { instantiate } from './wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  addRow(size: number, middle: number): void
  addDistances(size: number, constant: number): number
}

const PAGE_BYTES = 65536

export class WasmLogitKernels implements LogitKernels {
  readonly name = 'wasm'
  readonly #exports: Exports
  #results: Float64Array
  #rows = new Float32Array(0)
  /** Tokens that were left out. */
  #heavy: TokenSums | null = null
  /** Of the target's arg-max: what r − t is more than the middle. */
  #move = 0
  /** What a weight of 1 in the kernel's memory stands for. */
  #unit = 1

  constructor(exports: Exports) {
    this.#exports = exports
    this.#results = new Float64Array(exports.memory.buffer, at.ROW_RESULTS, at.ROW_RESULT_COUNT)
  }

  static async load(): Promise<WasmLogitKernels> {
    return new WasmLogitKernels(await instantiate<Exports>())
  }

  rows(size: number): { reference: Float32Array; target: Float32Array } {
    const padded = paddedSize(size)
    // Both rows, weights and ratios, and two numbers for every run.
    this.#makeRoom(at.ROWS + (padded * 4 + (padded / at.ROW_RUN) * 2) * 4)
    if (this.#rows.length !== padded * 2) {
      this.#rows = new Float32Array(this.#exports.memory.buffer, at.ROWS, padded * 2)
    }
    return { reference: this.#rows.subarray(0, size), target: this.#rows.subarray(padded, padded + size) }
  }

  addRow(size: number): RowSums | null {
    const padded = paddedSize(size)
    const { reference, target } = this.rows(size)
    this.#rows.fill(this.#rows[0]!, size, padded)
    this.#rows.fill(this.#rows[padded]!, padded + size)
    this.#exports.addRow(size, middleDifference(reference, target))
    const results = this.#results
    if (results[at.FLAGGED] !== 0) return null
    const best = results[at.ARG_MAX_TARGET]!
    this.#move = reference[best]! - target[best]! - results[at.MIDDLE]!
    this.#unit = Math.exp(results[at.LOG_UNIT]!)
    this.#heavy = this.#addHeavy(size, best)
    if (this.#heavy === null) return null
    return {
      argMaxReference: results[at.ARG_MAX_REFERENCE]!,
      argMaxTarget: best,
      peaks: new Float32Array(this.#exports.memory.buffer, at.ROWS + padded * 16, padded / at.ROW_RUN),
      ...this.#allSums(size - 1 - this.#heavy.others, this.#heavy),
    }
  }

  /** `count`: tokens that the kernel added up. */
  #allSums(count: number, { sums: heavy }: TokenSums) {
    const [results, unit] = [this.#results, this.#unit]
    const light = moveSums(
      {
        weight: results[at.WEIGHT]! * unit,
        weightTarget: results[at.WEIGHT_TARGET]! * unit,
        weightDifference: results[at.WEIGHT_DIFFERENCE]! * unit,
        weightCurve: results[at.WEIGHT_CURVE]! * unit,
        ratio: results[at.RATIO]!,
        ratioSquared: results[at.RATIO_SQUARED]!,
      },
      count,
      this.#move,
    )
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
  #addHeavy(size: number, best: number): TokenSums | null {
    const count = this.#results[at.HEAVY_COUNT]!
    const runs = new Int32Array(this.#exports.memory.buffer, at.HEAVY_RUNS, count)
    const { reference, target } = this.rows(size)
    const heavy = new TokenSums(reference, target, best, count * at.ROW_RUN)
    const least = this.#results[at.HEAVY_LEAST]!
    const areHeld = runs.every((run) => heavy.add(run * at.ROW_RUN, Math.min(size, (run + 1) * at.ROW_RUN), least))
    return areHeld ? heavy : null
  }

  addDistances(size: number, scale: number, constant: number): number {
    const slope = scale * Math.exp(-this.#move)
    const moved = constant + scale * Math.expm1(-this.#move)
    const light = this.#exports.addDistances(size, moved / slope) * slope * this.#unit
    return light + (this.#heavy?.distances(scale, constant) ?? 0)
  }

  #makeRoom(byteLength: number): void {
    const { memory } = this.#exports
    const missing = byteLength - memory.buffer.byteLength
    if (missing <= 0) return
    memory.grow(Math.ceil(missing / PAGE_BYTES))
    this.#results = new Float64Array(memory.buffer, at.ROW_RESULTS, at.ROW_RESULT_COUNT)
    this.#rows = new Float32Array(0)
  }
}

function paddedSize(size: number): number {
  return Math.ceil(size / at.ROW_RUN) * at.ROW_RUN
}
