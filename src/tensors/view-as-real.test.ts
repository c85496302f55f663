import { expect, test } from 'vitest'
import type { DType } from '../domain/dtype.ts'
import { memorySource } from './memory-source.ts'
import { viewAsReal } from './view-as-real.ts'

const source = (dtype: DType) => memorySource('x', { dtype, shape: [3], bytes: new Uint8Array(48) })

test.each([
  ['complex64', 'float32'],
  ['complex128', 'float64'],
] as const)('%s is pairs of %s along a last axis', (dtype, part) => {
  expect(viewAsReal(source(dtype))).toMatchObject({ name: 'x', dtype: part, shape: [3, 2], byteLength: 48 })
})

test('a real tensor stays the same source', () => {
  const real = source('float32')
  expect(viewAsReal(real)).toBe(real)
})
