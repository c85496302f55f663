import type { Bar } from '../pairs/worst-places.ts'

export type KernelName = 'wasm' | 'scalar'

/** Parameters for counting steps of a float dtype; mantissaBits is −1 for integers. */
export interface StepFormat {
  readonly mantissaBits: number
  readonly minExponent: number
}

/** Limits of a block: |d| ≤ rtol·|r| + constant, or `ulps` steps of the storage dtype where those are larger. */
export interface BlockLimits {
  readonly rtol: number
  readonly constant: number
  readonly ulps: number
}

/**
 * The hot loops of comparing. They work on memory of their own: callers fill `reference`, `target` and `difference` with
 * one block of finite numbers and read `results` at the places named in layout.ts.
 */
export interface PairKernels {
  readonly name: KernelName
  readonly reference: Float64Array
  readonly target: Float64Array
  readonly difference: Float64Array
  readonly results: Float64Array
  /** Squares of the differences that `survey` left. */
  readonly squares: Float64Array
  /** Positions in the block that `look` listed. */
  readonly candidates: Int32Array
  /** Errors counted since `clearBins`, by the top 16 bits of their float32; NaN stands for no error. */
  readonly absoluteBins: Uint32Array
  readonly relativeBins: Uint32Array
  clearBins(): void
  /** Fills `difference`. */
  subtract(count: number): void
  /** Whether all numbers of a block are finite; finds MAX_REFERENCE. */
  inspect(count: number): boolean
  /** Sums and maxima of a block, times `unit` where they are squares or absolute; counts its errors too. */
  addUp(count: number, unit: number, format: StepFormat, hasSteps: boolean): void
  /** Lists places over a limit and candidates for the worst; MAX_ABS and MAX_RELATIVE are the block's. */
  look(count: number, limits: BlockLimits, format: StepFormat, bar: Bar): void
  /**
   * Sums and moments of a block, at the places of survey-layout.ts; fills `difference` and `squares`. `last` is the
   * difference before the first.
   */
  survey(count: number, last: number): void
  /** The float32 pass for float32, float16 and bfloat16, if available. */
  readonly scanner: PairScanner | null
}

/** Reads whole chunks as they are stored. */
export interface PairScanner {
  readonly referenceChunk: Uint8Array
  readonly targetChunk: Uint8Array
  /** The findings for each block, see layout.ts; two views of the same memory. */
  readonly blockWords: Int32Array
  readonly blockFloats: Float32Array
  /**
   * Adds up what float32 can hold of the first `blocks` blocks, into `results` and the bins, and says of each whether
   * it was skipped or has to be looked at: where an error is over the limits, which must be a little tighter than the
   * true ones, or above `tie` and just at a limit of steps. Steps are counted where there may be more than `maxUlp`.
   */
  scan(
    kind: number,
    blocks: number,
    limits: BlockLimits,
    hasSteps: boolean,
    known: { tie: number; maxUlp: number },
  ): void
  /** Fills `reference`, `target` and `difference` with one block of the chunk. */
  promote(kind: number, block: number): void
  /** Largest finite magnitude of `count` numbers of the reference's chunk. */
  largest(kind: number, count: number): number
}
