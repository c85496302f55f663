import { expect, test } from 'vitest'
import { chooseKernels } from './choose.ts'

test('kernels are those asked for, WebAssembly where nobody asks, and nothing else', () => {
  const chosen = ['scalar', 'wasm', undefined, ''].map(chooseKernels)
  expect(chosen).toEqual(['scalar', 'wasm', 'wasm', 'wasm'])
  expect(() => chooseKernels('scaler')).toThrow('unknown kernels "scaler" in ASSAY_KERNELS; did you mean "scalar"?')
  expect(() => chooseKernels('gpu')).toThrow('unknown kernels "gpu" in ASSAY_KERNELS; known: scalar, wasm')
})
