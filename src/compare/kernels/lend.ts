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

const idle: Record<KernelName, PairKernels[]> = { wasm: [], scalar: [] }
const idleLogits: Record<KernelName, LogitKernels[]> = { wasm: [], scalar: [] }
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

/** As `withKernels`, for rows of logits. */
export async function withLogitKernels<T>(name: KernelName, use: (kernels: LogitKernels) => Promise<T>): Promise<T> {
  const kernels = idleLogits[name].pop() ?? (name === 'wasm' ? await WasmLogitKernels.load() : new ScalarLogitKernels())
  try {
    return await use(kernels)
  } finally {
    idleLogits[name].push(kernels)
  }
}

/** Gives `use` kernels that nobody else uses meanwhile. */
export async function withKernels<T>(name: KernelName, use: (kernels: PairKernels) => Promise<T>): Promise<T> {
  const kernels = idle[name].pop() ?? (name === 'wasm' ? await WasmKernels.load() : new ScalarKernels())
  try {
    return await use(kernels)
  } finally {
    idle[name].push(kernels)
  }
}
