import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
} from '../../src/onnx/generated/onnx-ml_pb.ts'
import { assayJson, project } from '../support/assay.ts'

const SIZE = 160

/** Large enough that an edited copy refers to the weights instead of repeating them. */
function model(): Uint8Array {
  const values = Float32Array.from({ length: SIZE * SIZE }, (_, i) => ((i * 37) % 101) / 101 - 0.5)
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, SIZE] }],
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['y'] },
    ],
    outputs: [{ name: 'y', dtype: 'float32', shape: [1, SIZE] }],
    initializers: { w: { dtype: 'float32', shape: [SIZE, SIZE], bytes: new Uint8Array(values.buffer) } },
  })
}

/** The same with its weights in a file of their own. */
function splitModel(): { graph: Uint8Array; weights: Uint8Array } {
  const proto = fromBinary(ModelProtoSchema, model())
  const [tensor] = proto.graph!.initializer
  const weights = tensor!.rawData
  tensor!.rawData = new Uint8Array(0)
  tensor!.dataLocation = TensorProto_DataLocation.EXTERNAL
  tensor!.externalData = [create(StringStringEntryProtoSchema, { key: 'location', value: 'model.onnx_data' })]
  return { graph: toBinary(ModelProtoSchema, proto), weights }
}

/** Writes files as Hugging Face's tools do: by content, with links to them. */
function cached(folder: string, files: Record<string, Uint8Array>): void {
  const repository = join(folder, 'hub', 'models--org--name')
  const snapshot = join(repository, 'snapshots', 'c'.repeat(40), 'onnx')
  for (const each of [snapshot, join(repository, 'blobs')]) mkdirSync(each, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    const digest = createHash('sha256').update(content).digest('hex')
    writeFileSync(join(repository, 'blobs', digest), content)
    symlinkSync(`../../../blobs/${digest}`, join(snapshot, name))
  }
}

test.each([
  ['weights inside', () => ({ 'model.onnx': model() })],
  ['weights beside it', () => ({ 'model.onnx': splitModel().graph, 'model.onnx_data': splitModel().weights })],
])('a model of the Hugging Face cache with %s is judged whole and layer by layer', async (_what, files) => {
  const folder = project()
  cached(folder, files())
  const path = `hub/models--org--name/snapshots/${'c'.repeat(40)}/onnx/model.onnx`
  const { code, results } = await assayJson(['test', path, '--target', 'ort-web:wasm'], folder, {
    ASSAY_SCOPE: 'full,layers',
  })
  expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass'])
  expect(code).toBe(0)
})
