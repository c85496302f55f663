import type { KernelName } from './contract.ts'

/**
 * The hot loop of measuring layers. Callers fill one chunk or block of both sides, and find sums in `state` at the places
 * of layer-layout.ts; what they put there before, the sums go on from. `rowLength` is infinite where there are no rows.
 */
export interface LayerKernels {
  readonly name: KernelName
  readonly state: Float64Array
  /** float32 as they are stored, at most CHUNK numbers. */
  readonly referenceChunk: Uint8Array
  readonly targetChunk: Uint8Array
  /** Numbers of any dtype, at most BLOCK. */
  readonly reference: Float64Array
  readonly target: Float64Array
  readonly difference: Float64Array
  measureFloats(count: number, rowLength: number): void
  measureNumbers(count: number, rowLength: number): void
}
