import type { LayerKernels } from './layer-contract.ts'
import { STATE_COUNT } from './layer-layout.ts'
import * as at from './layout.ts'
import { compileNow } from './wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  measureFloats(count: number, rowLength: number): void
  measureNumbers(count: number, rowLength: number): void
}

/** In memory of its own, at once: who measures a stretch that has come cannot wait. */
export function wasmLayerKernels(): LayerKernels {
  const { memory, measureFloats, measureNumbers } = compileNow<Exports>()
  const { buffer } = memory
  return {
    name: 'wasm',
    state: new Float64Array(buffer, at.RESULTS, STATE_COUNT),
    referenceChunk: new Uint8Array(buffer, at.REFERENCE_CHUNK, at.CHUNK * 4),
    targetChunk: new Uint8Array(buffer, at.TARGET_CHUNK, at.CHUNK * 4),
    reference: new Float64Array(buffer, at.REFERENCE_64, at.BLOCK),
    target: new Float64Array(buffer, at.TARGET_64, at.BLOCK),
    difference: new Float64Array(buffer, at.DIFFERENCE_64, at.BLOCK),
    measureFloats,
    measureNumbers,
  }
}
