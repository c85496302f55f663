import { unknown } from '../../domain/suggest.ts'
import type { KernelName } from './contract.ts'

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

/** The kernels with that name; by default WebAssembly if SIMD is available. */
export function chooseKernels(asked: string | undefined): KernelName {
  const name = NAMES.find((known) => known === asked)
  if (name) return name
  if (asked) throw unknown('kernels', `kernels "${asked}" in ASSAY_KERNELS`, asked, NAMES)
  return typeof WebAssembly === 'object' && WebAssembly.validate(SIMD_PROBE) ? 'wasm' : 'scalar'
}
