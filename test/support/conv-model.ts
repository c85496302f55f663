import { buildModel } from '../../src/onnx/builder.ts'
import { tensor } from './small-models.ts'

/** All written out: onnxruntime-web's JSEP build fails where dilations are left to their default. */
const ATTRIBUTES = {
  dilations: [1n, 1n],
  group: 1n,
  kernel_shape: [3n, 3n],
  pads: [1n, 1n, 1n, 1n],
  strides: [1n, 1n],
}

/** One 3×3 Conv over an 8×8 image; examples/webgpu/conv-6-to-8.onnx is `convModel(6, 8)`. */
export function convModel(channels: number, filters: number): Uint8Array {
  const weights = Array.from({ length: filters * channels * 9 }, (_, i) => Math.sin(7 * i))
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, channels, 8, 8] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [1, filters, 8, 8] }],
    initializers: { w: tensor('float32', [filters, channels, 3, 3], weights) },
    nodes: [{ op: 'Conv', name: 'conv', inputs: ['x', 'w'], outputs: ['y'], attributes: ATTRIBUTES }],
  })
}
