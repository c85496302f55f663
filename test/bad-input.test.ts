import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, test } from 'vitest'
import { ModelProtoSchema, StringStringEntryProtoSchema, TensorProto_DataLocation } from '../src/onnx/generated/onnx-ml_pb.ts'
import { assay, assayJson, type JsonReport, project, type Ran } from './assay.ts'
import { affineModel } from './small-models.ts'

const good = affineModel()
const weights = new Uint8Array(Float32Array.of(2).buffer)

/** The same model with the weight "scale" in another file. */
function externalModel(location: string): Uint8Array {
  const model = fromBinary(ModelProtoSchema, good)
  const scale = model.graph!.initializer.find(({ name }) => name === 'scale')!
  scale.rawData = new Uint8Array(0)
  scale.dataLocation = TensorProto_DataLocation.EXTERNAL
  scale.externalData = [create(StringStringEntryProtoSchema, { key: 'location', value: location })]
  return toBinary(ModelProtoSchema, model)
}

function badModels(): string {
  const nodes = (op: string, input = 'x') => ({ nodes: [{ op, inputs: [input], outputs: ['y'] }] })
  const folder = project({
    'models/empty.onnx': '',
    'models/html.onnx': '<!DOCTYPE html><html><body>Not found</body></html>',
    'models/lfs-pointer.onnx': 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n',
    'models/not-protobuf.onnx': 'a recipe for apple pie',
    'models/opset-0.onnx': affineModel(2, { opset: 0 }),
    'models/opset-99.onnx': affineModel(2, { opset: 99 }),
    'models/truncated.onnx': good.subarray(0, good.length - 20),
    'models/unknown-op.onnx': affineModel(2, nodes('Frobnicate')),
    'models/unknown-value.onnx': affineModel(2, nodes('Relu', 'nowhere')),
    'models/external-absolute.onnx': externalModel('/etc/hostname'),
    'models/external-hardlink.onnx': externalModel('hardlinked.bin'),
    'models/external-missing.onnx': externalModel('missing.bin'),
    'models/external-outside.onnx': externalModel('../secret.bin'),
    'models/external-short.onnx': externalModel('short.bin'),
    'models/external-symlink.onnx': externalModel('symlinked.bin'),
    'models/short.bin': weights.subarray(0, 3),
    'secret.bin': weights,
  })
  linkSync(join(folder, 'secret.bin'), join(folder, 'models/hardlinked.bin'))
  symlinkSync('../secret.bin', join(folder, 'models/symlinked.bin'))
  return folder
}

test('x', async () => {
  const folder = badModels()
  for (const args of [[], ['--reference', 'ort-web:wasm', '--target', 'ort:cpu']]) {
  const r = await assayJson(['test', ...args], folder)
  console.log(r.code, r.stderr)
  for (const x of r.results) console.log(x.id, x.verdict, x.error?.stage, x.error?.side, x.error?.message)
  }
  writeFileSync(join(folder, 'good.onnx'), good)
  mkdirSync(join(folder, 'nothing'))
  const np = (n: string) => ({})
  for (const args of [['nothing'],['good.onnx', '--target', 'ortt:cpu'],['good.onnx', '--target', 'ort:tpu'],['good.onnx', '--tolerance', '1'], ['good.onnx', '--target', 'ort:cpu,thread=2'],['missing.onnx'],['good.onnx','--rtol','1'],['good.onnx','--target','ort:cpu'],['good.onnx','--input','z=0..1'],['good.onnx','--input','x=secret.npy'],['good.onnx', '-k', 'nope'],['good.onnx', '-k', '(nope'], ['good.onnx', '-t','('], ['good.onnx','--jobs','0'],['good.onnx','--dim','n=x'],['good.onnx','--reporter','xml'],['good.onnx','--shard','4/3'],['no*.onnx'], ['good.onnx', '--durations', 'd.json'], ['good.onnx', '--timeout', 'soon'], ['good.onnx','--allowed-mismatch', '1'], ['good.onnx', '--seed', '-1'], ['good.onnx','--output-dir', 'good.onnx'], ['good.onnx','--dim','n=3'], ['good.onnx', '--target', 'ort:cpu,model=nope.onnx']]) {
    const t = await assay(['test', ...args], folder)
    console.log('#', args.join(' '), '→', t.code, '\n', t.code === 4 || t.code===5 ? t.stdout + t.stderr : t.stdout + '\nSTDERR ' + t.stderr)
  }
  for (const args of [['tset'], [], ['cache','purge'], ['merge'], ['merge','nothing']]) {
    const t = await assay(args, folder)
    console.log('#', args.join(' '), '→', t.code, '\n', t.stdout + t.stderr)
  }
})
