import { chooseKernels } from './choose.ts'
import type { KernelName, PairKernels } from './contract.ts'
import type { LayerKernels } from './layer-contract.ts'
import type { LogitKernels } from './logits-contract.ts'
import { ScalarKernels } from './scalar.ts'
import { ScalarLayerKernels } from './scalar-layers.ts'
import { ScalarLogitKernels } from './scalar-logits.ts'
import { WasmKernels } from './wasm.ts'
import { wasmLayerKernels } from './wasm-layers.ts'
import { WasmLogitKernels } from './wasm-logits.ts'

let layerKernels: LayerKernels | null = null

/** Whoever uses them leaves nothing there that others need: sums are taken out again before the next stretch is put in. */
export function layerKernelsInUse(): LayerKernels {
  layerKernels ??= kernelName() === 'wasm' ? wasmLayerKernels() : new ScalarLayerKernels()
  return layerKernels
}

let chosen: KernelName | null = null

/** The kernels in use: those of ASSAY_KERNELS, or WebAssembly if SIMD is available. Decided once. */
export function kernelName(): KernelName {
  chosen ??= chooseKernels(environment('ASSAY_KERNELS'))
  return chosen
}

/** There is no environment in a page. */
function environment(name: string): string | undefined {
  const host: { process?: { env?: Readonly<Record<string, string | undefined>> } } = globalThis
  return host.process?.env?.[name]
}

type Lend<K> = <T>(name: KernelName, use: (kernels: K) => Promise<T>) => Promise<T>

/** Lends kernels for exclusive use and keeps them for the next caller. */
function lender<K>(make: Readonly<Record<KernelName, () => K | Promise<K>>>): Lend<K> {
  const idle: Record<KernelName, K[]> = { wasm: [], scalar: [] }
  return async (name, use) => {
    const kernels = idle[name].pop() ?? (await make[name]())
    try {
      return await use(kernels)
    } finally {
      idle[name].push(kernels)
    }
  }
}

export const withKernels = lender<PairKernels>({
  wasm: () => WasmKernels.load(),
  scalar: () => new ScalarKernels(),
})

/** For rows of logits. */
export const withLogitKernels = lender<LogitKernels>({
  wasm: () => WasmLogitKernels.load(),
  scalar: () => new ScalarLogitKernels(),
})
