import { describe, expect, test } from 'vitest'
import { DTYPES } from '../src/domain/dtype.ts'
import type { NodeParts } from '../src/onnx/builder.ts'
import { assayJson, project } from './assay.ts'
import { affineModel } from './small-models.ts'

const cast = (input: string, output: string, to: 'bfloat16' | 'float16' | 'float32'): NodeParts => ({
  op: 'Cast',
  inputs: [input],
  outputs: [output],
  attributes: { to: BigInt(DTYPES[to].onnx) },
})

/** The affine model with one tensor rounded to fewer bits on its way. */
function rounded(to: 'bfloat16' | 'float16'): Uint8Array {
  return affineModel(2, {
    nodes: [
      { op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
      cast('scaled', 'short', to),
      cast('short', 'back', 'float32'),
      { op: 'Add', inputs: ['back', 'one'], outputs: ['y'] },
    ],
  })
}

describe('a target model with a stray cast to fewer bits', () => {
  const folder = project({
    'model.onnx': affineModel(),
    'bf16.onnx': rounded('bfloat16'),
    'fp16.onnx': rounded('float16'),
  })
  const judge = async (target: string) =>
    (await assayJson(['test', 'model.onnx', '--target', target], folder)).results[0]!

  test.each(['bf16', 'fp16'])('in %s is judged by the precision of the reference, and fails', async (name) => {
    const result = await judge(`ort:cpu,model=${name}.onnx`)
    expect(result.verdict).toBe('fail')
    expect(result.outputs[0]!.rule).toContain('float32 whole model')
  })

  test('passes by its own precision once that is declared', async () => {
    const result = await judge('ort:cpu,model=bf16.onnx,dtype=bf16')
    expect(result.verdict).toBe('pass')
    expect(result.outputs[0]!.rule).toContain('bfloat16 whole model')
  })
})
