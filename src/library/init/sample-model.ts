import type { Tensor } from '../../domain/tensor.ts'
import { randomStream } from '../../models/random.ts'
import { buildModel, type NodeParts } from '../../onnx/builder.ts'
import { encodeNumbers } from '../../tensors/encode.ts'

/** A small convolutional classifier of 28×28 images into ten classes; its weights are drawn, not trained. */
export function sampleModel(): Uint8Array {
  return buildModel({
    name: 'sample',
    inputs: [{ name: 'image', dtype: 'float32', shape: ['batch', 1, 28, 28] }],
    outputs: [{ name: 'probabilities', dtype: 'float32', shape: ['batch', 10] }],
    initializers: {
      'conv1.weight': weights('conv1.weight', [8, 1, 3, 3]),
      'conv1.bias': weights('conv1.bias', [8]),
      'conv2.weight': weights('conv2.weight', [16, 8, 3, 3]),
      'conv2.bias': weights('conv2.bias', [16]),
      'dense.weight': weights('dense.weight', [10, 784]),
      'dense.bias': weights('dense.bias', [10]),
    },
    nodes: [
      ...convolution('conv1', 'image'), // (batch, 8, 14, 14)
      ...convolution('conv2', 'conv1.pooled'), // (batch, 16, 7, 7)
      { op: 'Flatten', name: 'flatten', inputs: ['conv2.pooled'], outputs: ['features'] }, // (batch, 784)
      {
        op: 'Gemm',
        name: 'dense',
        inputs: ['features', 'dense.weight', 'dense.bias'],
        outputs: ['logits'],
        attributes: { transB: 1n },
      },
      { op: 'Softmax', name: 'softmax', inputs: ['logits'], outputs: ['probabilities'], attributes: { axis: 1n } },
    ],
  })
}

// All written out: onnxruntime-web's JSEP build fails where dilations are left to their default.
const CONV = {
  dilations: [1n, 1n],
  group: 1n,
  kernel_shape: [3n, 3n],
  pads: [1n, 1n, 1n, 1n],
  strides: [1n, 1n],
}
const POOL = { kernel_shape: [2n, 2n], strides: [2n, 2n], pads: [0n, 0n, 0n, 0n], dilations: [1n, 1n] }

function convolution(name: string, input: string): NodeParts[] {
  const parameters = [`${name}.weight`, `${name}.bias`]
  return [
    { op: 'Conv', name, inputs: [input, ...parameters], outputs: [`${name}.out`], attributes: CONV },
    { op: 'Relu', name: `${name}.relu`, inputs: [`${name}.out`], outputs: [`${name}.alive`] },
    {
      op: 'MaxPool',
      name: `${name}.pool`,
      inputs: [`${name}.alive`],
      outputs: [`${name}.pooled`],
      attributes: POOL,
    },
  ]
}

/** Scaled so that activations keep their size from layer to layer. */
function weights(name: string, shape: readonly number[]): Tensor {
  const fanIn = shape.slice(1).reduce((product, size) => product * size, 1)
  const random = randomStream(0, name)
  const scale = Math.sqrt((shape.length > 1 ? 2 : 0.01) / fanIn)
  const count = shape.reduce((product, size) => product * size, 1)
  return {
    dtype: 'float32',
    shape,
    bytes: encodeNumbers(
      'float32',
      Array.from({ length: count }, () => random.normal() * scale),
    ),
  }
}
