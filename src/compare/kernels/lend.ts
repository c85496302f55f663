import { UsageError } from '../../domain/errors.ts'
import type { KernelName, PairKernels } from './contract.ts'
import type { LogitKernels } from './logits-contract.ts'
import { ScalarKernels } from './scalar.ts'
import { ScalarLogitKernels } from './scalar-logits.ts'
import { WasmKernels } from './wasm.ts'
import { WasmLogitKernels } from './wasm-logits.ts'

const NAMES: readonly KernelName[] = ['wasm', 'scalar']

/** (func (result v128) (i32x4.splat (i32.const 0))): valid only where there is SIMD. */
const SIMD_PROBE = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  5,
  1,
  96,
  0,
  1,
  123,
  3,
  2,
  1,
  0,
  10,
  8,
  1,
  6,
  0,
  65,
  0,
  253,
  17,
  11,
)

let chosen: KernelName | null = null

/** Which kernels compare: those of ASSAY_KERNELS, or WebAssembly where it has SIMD. Decided once. */
export function kernelName(): KernelName {
  chosen ??= chooseKernels(environment('ASSAY_KERNELS'))
  return chosen
}

/** The kernels of that name; without one WebAssembly where it has SIMD. */
export function chooseKernels(asked: string | undefined): KernelName {
  const name = NAMES.find((known) => known === asked)
  if (name) return name
  if (asked) throw new UsageError('kernels', `ASSAY_KERNELS is ${asked}, known are ${NAMES.join(' and ')}`)
  return typeof WebAssembly === 'object' && WebAssembly.validate(SIMD_PROBE) ? 'wasm' : 'scalar'
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
