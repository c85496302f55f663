import type { DType } from '../../src/domain/dtype.ts'
import type { Tensor } from '../../src/domain/tensor.ts'
import { buildModel, type ModelParts, type NodeParts } from '../../src/onnx/builder.ts'
import { encodeBigInts, encodeNumbers } from '../../src/tensors/encode.ts'

export function tensor(dtype: DType, shape: readonly number[], values: readonly number[] | readonly bigint[]): Tensor {
  const wide: bigint[] = []
  const numbers: number[] = []
  for (const value of values) typeof value === 'bigint' ? wide.push(value) : numbers.push(value)
  return { dtype, shape, bytes: wide.length > 0 ? encodeBigInts(dtype, wide) : encodeNumbers(dtype, numbers) }
}

/** y = x · scale + 1 over (2, 3) floats. */
export function affineModel(scale = 2, parts: Partial<ModelParts> = {}): Uint8Array {
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [2, 3] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [2, 3] }],
    initializers: {
      scale: tensor('float32', [1], [scale]),
      one: tensor('float32', [1], [1]),
    },
    nodes: [
      { op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
      { op: 'Add', inputs: ['scaled', 'one'], outputs: ['y'] },
    ],
    ...parts,
  })
}

/** A model of one value that no input changes. */
export function constantModel(value: Tensor, ...nodes: readonly NodeParts[]): Uint8Array {
  const output = nodes.at(-1)?.outputs[0] ?? 'y'
  const first: NodeParts = {
    op: 'Constant',
    outputs: [nodes.length > 0 ? 'c' : 'y'],
    attributes: { value },
  }
  return buildModel({
    nodes: [first, ...nodes],
    outputs: [{ name: output, dtype: value.dtype, shape: value.shape }],
  })
}
