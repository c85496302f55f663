import { describe, expect, test } from 'vitest'
import { chooseKernels, withKernels } from './lend.ts'

describe('kernels', () => {
  test('are those asked for, WebAssembly where nobody asks, and nothing else', () => {
    expect([chooseKernels('scalar'), chooseKernels('wasm'), chooseKernels(undefined), chooseKernels('')]).toEqual([
      'scalar',
      'wasm',
      'wasm',
      'wasm',
    ])
    expect(() => chooseKernels('simd')).toThrow('ASSAY_KERNELS is simd, known are wasm and scalar')
  })

  test('are never lent twice at the same time, and again afterwards', async () => {
    const [first, second] = await withKernels('wasm', (a) => withKernels('wasm', async (b) => [a, b]))
    expect(first).not.toBe(second)
    const again = await withKernels('wasm', async (kernels) => kernels)
    expect([first, second]).toContain(again)
  })
})
