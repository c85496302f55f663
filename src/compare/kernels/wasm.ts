import type { Bar } from '../pairs/worst-places.ts'
import type { BlockLimits, PairKernels, PairScanner, StepFormat } from './contract.ts'
import * as at from './layout.ts'
import { KERNELS_WASM } from './wasm.gen.ts'

/** What assembly/index.ts exports. */
interface Exports {
  readonly memory: WebAssembly.Memory
  clearBins(): void
  countErrors(count: number): void
  subtract(count: number): void
  inspect(count: number): number
  addUp(count: number, unit: number, mantissaBits: number, minExponent: number, hasSteps: boolean): void
  look(
    count: number,
    rtol: number,
    constant: number,
    ulps: number,
    mantissaBits: number,
    minExponent: number,
    floor: number,
    high: number,
    low: number,
    tie: number,
  ): void
  scan(
    kind: number,
    blocks: number,
    rtol: number,
    constant: number,
    ulps: number,
    hasSteps: boolean,
    tie: number,
    reference: number,
    target: number,
    maxUlp: number,
    hasBins: boolean,
  ): void
  promote(kind: number, block: number): void
  survey(count: number, last: number): void
  largest(kind: number, count: number): number
}

let compiled: Promise<WebAssembly.Module> | null = null

const kernelBytes = () => Uint8Array.from(atob(KERNELS_WASM), (letter) => letter.charCodeAt(0))

/** Once per process or page; every use gets an instance, and so memory, of its own. */
export async function instantiate<T>(): Promise<T> {
  compiled ??= WebAssembly.compile(kernelBytes())
  const instance = await WebAssembly.instantiate(await compiled)
  return instance.exports as T
}

/** The same without waiting, for those who need it only once. */
export function compileNow<T>(): T {
  return new WebAssembly.Instance(new WebAssembly.Module(kernelBytes())).exports as T
}

export class WasmKernels implements PairKernels {
  readonly name = 'wasm'
  readonly reference: Float64Array
  readonly target: Float64Array
  readonly difference: Float64Array
  readonly squares: Float64Array
  readonly results: Float64Array
  readonly candidates: Int32Array
  readonly absoluteBins: Uint32Array
  readonly relativeBins: Uint32Array
  readonly scanner: PairScanner
  readonly #exports: Exports

  constructor(exports: Exports) {
    const { buffer } = exports.memory
    this.#exports = exports
    this.reference = new Float64Array(buffer, at.REFERENCE_64, at.BLOCK)
    this.target = new Float64Array(buffer, at.TARGET_64, at.BLOCK)
    this.difference = new Float64Array(buffer, at.DIFFERENCE_64, at.BLOCK)
    this.squares = new Float64Array(buffer, at.SQUARES_64, at.BLOCK)
    this.results = new Float64Array(buffer, at.RESULTS, at.RESULT_COUNT)
    this.candidates = new Int32Array(buffer, at.CANDIDATES, at.BLOCK)
    this.absoluteBins = new Uint32Array(buffer, at.ABSOLUTE_BINS, at.BINS)
    this.relativeBins = new Uint32Array(buffer, at.RELATIVE_BINS, at.BINS)
    this.scanner = scannerOf(exports)
  }

  static async load(): Promise<WasmKernels> {
    return new WasmKernels(await instantiate<Exports>())
  }

  clearBins(): void {
    this.#exports.clearBins()
  }

  subtract(count: number): void {
    this.#exports.subtract(count)
  }

  survey(count: number, last: number): void {
    this.#exports.survey(count, last)
  }

  inspect(count: number): boolean {
    return this.#exports.inspect(count) !== 0
  }

  addUp(count: number, unit: number, { mantissaBits, minExponent }: StepFormat, hasSteps: boolean): void {
    this.#exports.addUp(count, unit, mantissaBits, minExponent, hasSteps)
    this.#exports.countErrors(count)
  }

  look(count: number, limits: BlockLimits, format: StepFormat, { floor, high, low, tie }: Bar): void {
    const { rtol, constant, ulps } = limits
    const { mantissaBits, minExponent } = format
    this.#exports.look(count, rtol, constant, ulps, mantissaBits, minExponent, floor, high, low, tie)
  }
}

function scannerOf(exports: Exports): PairScanner {
  const { buffer } = exports.memory
  const words = (at.CHUNK / at.BLOCK) * at.BLOCK_WORDS
  return {
    referenceChunk: new Uint8Array(buffer, at.REFERENCE_CHUNK, at.CHUNK * 4),
    targetChunk: new Uint8Array(buffer, at.TARGET_CHUNK, at.CHUNK * 4),
    blockWords: new Int32Array(buffer, at.BLOCKS, words),
    blockFloats: new Float32Array(buffer, at.BLOCKS, words),
    scan: (kind, blocks, { rtol, constant, ulps }, hasSteps, { tie, maxUlp }) => {
      const limits = [rtol, constant, ulps] as const
      exports.scan(kind, blocks, ...limits, hasSteps, tie, at.REFERENCE_CHUNK, at.TARGET_CHUNK, maxUlp, true)
    },
    promote: exports.promote,
    largest: exports.largest,
  }
}
