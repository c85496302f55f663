import { expect, test } from 'vitest'
import { tensor } from '../../../test/support/small-models.ts'
import { buildModel } from '../builder.ts'
import { modelFromBytes } from '../model.ts'
import { suggestedSizes } from './suggested-sizes.ts'

test('paddings, shapes and long kernels suggest sizes, weights and what is not whole do not', async () => {
  const bytes = buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 'n'] }],
    outputs: [{ name: 'y' }],
    initializers: {
      pads: tensor('int64', [4], [0n, 64n, 0n, 64n]),
      shape: tensor('int64', [2], [-1n, 400n]),
      weights: tensor('float32', [2], [3, 4]),
      many: tensor('int64', [17], new Array<bigint>(17).fill(7n)),
    },
    nodes: [
      { op: 'Pad', inputs: ['x', 'pads'], outputs: ['a'] },
      { op: 'Reshape', inputs: ['a', 'shape'], outputs: ['b'] },
      { op: 'Slice', inputs: ['b', 'many', 'many'], outputs: ['c'] },
      { op: 'Mul', inputs: ['c', 'weights'], outputs: ['d'] },
      { op: 'Conv', inputs: ['d', 'weights'], outputs: ['y'], attributes: { kernel_shape: [512n] } },
    ],
  })
  expect(suggestedSizes((await modelFromBytes(bytes, '.')).proto)).toEqual([64, 400, 512])
})
