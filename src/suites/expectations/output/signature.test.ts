import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../domain/tensor.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { memorySource } from '../../../tensors/memory-source.ts'
import { measureOutput } from './measure-output.ts'
import { documentedValues, makeSignature } from './signature.ts'

function tensor(values: readonly number[], ...shape: number[]): Tensor {
  return { dtype: 'float32', shape, bytes: encodeNumbers('float32', values) }
}

/** In chunks of three numbers, so that rows go on in the next one. */
async function signatureOf(outputs: readonly Tensor[]): Promise<readonly number[] | undefined> {
  const measured = []
  for (const [i, output] of outputs.entries()) measured.push(await measureOutput(memorySource(`o${i}`, output, 12)))
  return makeSignature(measured, outputs.length > 1)?.values
}

describe('the documented signature', () => {
  test('of logits is the range of every position, less the smallest', async () => {
    expect(await signatureOf([tensor([1, 5, 2, 0, 0.5, 4, 3, 3, 3.5], 1, 3, 3)])).toEqual([3.5, 3.5, 0])
  })

  test('of a tuple of flat outputs is their values, one after the other', async () => {
    expect(await signatureOf([tensor([1, -2, 3], 1, 3), tensor([0.5, 0.25, -4], 1, 3)])).toEqual([
      5, 2, 7, 4.5, 4.25, 0,
    ])
  })

  test('of a tuple of larger outputs has the range of both', async () => {
    const [a, b] = [tensor([1, 2, 0, 4], 1, 2, 2), tensor([5, 3, 1, 3], 1, 2, 2)]
    expect(await signatureOf([a, b])).toEqual([0, 0])
    expect(await signatureOf([a])).toEqual([0, 3])
  })

  test('of a tuple whose outputs do not fit together is that of the first', async () => {
    expect(await signatureOf([tensor([1, 2, 0, 4], 1, 2, 2), tensor([7, 8], 1, 2)])).toEqual([0, 3])
  })

  test('with a NaN is NaN everywhere, as there; ours keeps the other positions', async () => {
    const output = tensor([1, Number.NaN, 0, 4, 2, 7], 1, 3, 2)
    expect(await signatureOf([output])).toEqual([Number.NaN, 0, 1])
    expect(documentedValues({ of: [], values: [Number.NaN, 0, 1] })).toEqual([Number.NaN, Number.NaN, Number.NaN])
    expect(documentedValues({ of: [], values: [2, 0, 1] })).toEqual([2, 0, 1])
  })
})
