import { ROW, RUN } from './row-layout.ts'
import { rowModule } from './row-module.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  findPeaks(size: number): number
  sumExp(size: number, most: number): number
}

export interface ReducedRow {
  readonly most: number
  /** In float64. */
  readonly logSumExp: number
  /** The largest of every run of 64 numbers; valid until the next row. */
  readonly peaks: Float32Array
}

const PAGE_BYTES = 65536

/** Reduces rows of numbers, such as logits, in WebAssembly; it holds one row at a time. */
export class RowKernel {
  readonly #exports: Exports

  constructor() {
    this.#exports = new WebAssembly.Instance(rowModule()).exports as WebAssembly.Exports & Exports
  }

  /** null: not all of it is finite. */
  reduce(row: Float32Array): ReducedRow | null {
    const runs = Math.ceil(row.length / RUN)
    const memory = this.#memory(ROW + runs * (RUN + 1) * 4)
    const placed = new Float32Array(memory, ROW, runs * RUN)
    placed.set(row)
    placed.fill(Number.NEGATIVE_INFINITY, row.length)
    if (row.length === 0 || this.#exports.findPeaks(row.length) === 0) return null
    const peaks = new Float32Array(memory, ROW + runs * RUN * 4, runs)
    const most = peaks.reduce((a, b) => Math.max(a, b))
    return { most, logSumExp: most + Math.log(this.#exports.sumExp(row.length, most)), peaks }
  }

  #memory(byteLength: number): ArrayBuffer {
    const { memory } = this.#exports
    const missing = byteLength - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES))
    return memory.buffer
  }
}
