import { describe, expect, test } from 'vitest'
import type { DType } from '../../domain/dtype.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { LayerMeter } from '../layers/layer-meter.ts'
import { randomFrom } from '../testing/random.ts'
import { ScalarLayerKernels } from './scalar-layers.ts'
import { wasmLayerKernels } from './wasm-layers.ts'

const SPECIALS = [Number.NaN, Infinity, -Infinity, -0, 0, 1e-44, -3e-8, 65504, 3e38]
const KERNELS = [wasmLayerKernels(), new ScalarLayerKernels()]

/** A number in so many is a special one; 0: none. */
function draw(seed: number, count: number, special: number): number[] {
  const random = randomFrom(seed)
  const one = () => (special > 0 && random() * special < 1 ? SPECIALS[Math.floor(random() * 9)]! : 4 * random() - 2)
  return Array.from({ length: count }, one)
}

/** The sums of both kernels, in pieces of so many elements. */
function sumBoth(dtypes: readonly [DType, DType], special: number, count: number, row: number | null, piece: number) {
  const [reference, target] = dtypes.map((dtype, i) => encodeNumbers(dtype, draw(7 * i + count, count, special)))
  return KERNELS.map((kernels) => {
    const meter = new LayerMeter({ reference: dtypes[0], target: dtypes[1] }, row, kernels)
    for (let first = 0; first < count; first += piece) {
      const elements = Math.min(piece, count - first)
      meter.add({ bytes: reference!, first }, { bytes: target!, first }, elements)
    }
    return meter.sums
  })
}

describe.each([
  ['float32', 'float32'],
  ['float32', 'bfloat16'],
  ['float64', 'float64'],
] as const)('%s against %s', (one, two) => {
  test.each([0, 1, 2, 3, 2049, 65_537])('of %i numbers, to the bit', (count) => {
    for (const special of [0, 100]) {
      for (const row of [null, 1, 7, 60_000]) {
        const [wasm, scalar] = sumBoth([one, two], special, count, row, 50_000)
        expect(wasm).toEqual(scalar)
        expect(wasm!.count).toBe(count)
      }
    }
  })
})

test('the kernel of float32 gives what the one of all dtypes gives', () => {
  const count = 1000
  const values = draw(1, count, 9).map(Math.fround)
  const other = draw(2, count, 9).map(Math.fround)
  const [narrow, wide] = (['float32', 'float64'] as const).map((dtype) => {
    const meter = new LayerMeter({ reference: dtype, target: dtype }, 10, KERNELS[0])
    meter.add(
      { bytes: encodeNumbers(dtype, values), first: 0 },
      { bytes: encodeNumbers(dtype, other), first: 0 },
      count,
    )
    return meter.sums
  })
  expect(narrow).toEqual(wide)
})
