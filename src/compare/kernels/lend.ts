import { chooseKernels } from './choose.ts'
import type { KernelName, PairKernels } from './contract.ts'
import type { LogitKernels } from './logits-contract.ts'
import { ScalarKernels } from './scalar.ts'
import { ScalarLogitKernels } from './scalar-logits.ts'
import { WasmKernels } from './wasm.ts'
import { WasmLogitKernels } from './wasm-logits.ts'

let chosen: KernelName | null = null

/** Which kernels compare: those of ASSAY_KERNELS, or WebAssembly where it has SIMD. Decided once. */
export function kernelName(): KernelName {
  chosen ??= chooseKernels(environment('ASSAY_KERNELS'))
  return chosen
}

/** A page has no environment. */
function environment(name: string): string | undefined {
  const host: { process?: { env?: Readonly<Record<string, string | undefined>> } } = globalThis
  return host.process?.env?.[name]
}

type Lend<K> = <T>(name: KernelName, use: (kernels: K) => Promise<T>) => Promise<T>

/** Lends kernels that nobody else uses meanwhile, and keeps them for who comes next. */
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
