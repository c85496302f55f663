import { describe, expect, test } from 'vitest'
import { withKernels } from './lend.ts'

describe('kernels', () => {
  test('are never lent twice at the same time, and again afterwards', async () => {
    const [first, second] = await withKernels('wasm', (a) => withKernels('wasm', async (b) => [a, b]))
    expect(first).not.toBe(second)
    const again = await withKernels('wasm', async (kernels) => kernels)
    expect([first, second]).toContain(again)
  })
})
