import { expect, test } from 'vitest'
import type { OnnxRuntime, OrtData } from './onnxruntime.ts'
import { wholeTensor } from './tensors.ts'

class Tensor {
  readonly type: string
  readonly data: OrtData
  readonly dims: readonly number[]
  constructor(type: string, data: OrtData, dims: readonly number[]) {
    this.type = type
    this.data = data
    this.dims = dims
  }
}
const ort: Pick<OnnxRuntime, 'Tensor'> = { Tensor }

test('whole numbers are written row after row, each dtype in its own way', () => {
  const rows = [
    [0, 1, -1],
    [2 ** 31, 2 ** 40 + 5, -(2 ** 33)],
  ]
  const wide = wholeTensor(ort, 'int64', rows, [2, 3])
  expect([...(wide.data as BigInt64Array)]).toEqual(rows.flat().map(BigInt))
  expect(wholeTensor(ort, 'int32', [[1, -2]], [1, 2]).data).toEqual(Int32Array.of(1, -2))
  expect(wholeTensor(ort, 'float32', [[1], [0]], [2, 1]).data).toEqual(Float32Array.of(1, 0))
  expect(wholeTensor(ort, 'bool', [[1, 0]], [1, 2]).data).toEqual(Uint8Array.of(1, 0))
  expect(wholeTensor(ort, 'int64', [[1]], []).dims).toEqual([])
})
