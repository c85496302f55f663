import { describe, expect, test } from 'vitest'
import type { Tensor, TensorSink, TensorSpec } from '../../domain/tensor.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { buildModel } from '../../onnx/builder.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { realOrt, testTarget } from '../testing/in-process-ort.ts'

const model = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: ['n'] }],
  outputs: ['y', 'z'].map((name) => ({ name, dtype: 'float32' })),
  nodes: [
    { op: 'Neg', inputs: ['x'], outputs: ['y'] },
    { op: 'Abs', inputs: ['x'], outputs: ['z'] },
  ],
})

const spec = (name: string, count: number, dtype: TensorSpec['dtype'] = 'float32'): TensorSpec => ({
  name,
  dtype,
  shape: [count],
})

/** What both outputs are for these inputs, one run after another in one session. */
async function run(shapes: readonly TensorSpec[], ...inputs: readonly (readonly number[])[]) {
  const ref = { format: 'onnx', bytes: model, folder: '.' } as const
  const session = await realOrt().open(ref, { target: testTarget('ort:cpu') })
  const found: Record<string, number[]>[] = []
  for (const numbers of inputs) {
    const x: Tensor = { dtype: 'float32', shape: [numbers.length], bytes: encodeNumbers('float32', numbers) }
    const given: Record<string, number[]> = {}
    const keep: TensorSink = async ({ name, bytes }) => {
      given[name] = [...new Float32Array(bytes.slice().buffer)]
    }
    await session.run(memoryTrace(new Map([['x', x]])), keep, undefined, shapes)
    found.push(given)
  }
  await session.close()
  return found
}

describe('outputs of known shapes', () => {
  test('are given, run after run', async () => {
    expect(await run([spec('y', 2), spec('z', 2)], [1, -2], [3, 4])).toEqual([
      { y: [-1, 2], z: [1, 2] },
      { y: [-3, -4], z: [3, 4] },
    ])
  })

  test.each([
    ['one of them', [spec('z', 2)]],
    ['another size', [spec('y', 3), spec('z', 2)]],
    ['another dtype', [spec('y', 2, 'int32')]],
    ['one that it does not have', [spec('other', 2)]],
  ])('are given if %s was expected', async (_, shapes) => {
    expect(await run(shapes, [1, -2])).toEqual([{ y: [-1, 2], z: [1, 2] }])
  })
})
