import { link, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { create, fromBinary } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { FileDigests } from '../../files/disk/digest.ts'
import { buildModel } from '../../onnx/builder.ts'
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
} from '../../onnx/generated/onnx-ml_pb.ts'
import { modelFromBytes, writeModel } from '../../onnx/model.ts'
import { findDecoder } from './onnx-decoder.ts'

const WIDE = 20_000

/** logits = x · w */
function decoder(weight: number, inputs = ['x', 'position_ids', 'past.0']): Uint8Array {
  const bytes = new Uint8Array(Float32Array.from({ length: 2 * WIDE }, () => weight).buffer)
  return buildModel({
    nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['logits'] }],
    inputs: inputs.map((name) => ({ name, dtype: 'float32', shape: ['b', 's', 2] })),
    outputs: [{ name: 'logits', dtype: 'float32', shape: ['b', 's', WIDE] }],
    initializers: { w: { dtype: 'float32', shape: [2, WIDE], bytes } },
  })
}

async function folderWith(...files: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-decoder-'))
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), decoder(1))
  }
  return folder
}

const found = async (folder: string, variant?: string) => {
  const file = (await findDecoder(folder, new FileDigests(), variant))?.file
  return file?.slice(folder.length + 1) ?? null
}

test.each([
  [['model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_model_merged.onnx', 'onnx/model.onnx'], 'onnx/model.onnx'],
  [['model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_model_merged.onnx'], 'onnx/decoder_model_merged.onnx'],
  [['model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx'], 'onnx/decoder_with_past_model.onnx'],
  [['model.onnx', 'onnx/encoder_model.onnx', 'onnx/decoder_model.onnx'], 'onnx/decoder_model.onnx'],
  [['model.onnx', 'model_fp16.onnx', 'onnx/model_q4.onnx'], 'model.onnx'],
])('of %j the decoder is %s', async (files, file) => {
  expect(await found(await folderWith(...files))).toBe(file)
})

test('a variant is what file names end in', async () => {
  const folder = await folderWith(
    'onnx/model.onnx',
    'onnx/model_fp16.onnx',
    'onnx/model_quantized.onnx',
    'model_fp16.onnx',
  )
  expect(await found(folder, 'fp16')).toBe('onnx/model_fp16.onnx')
  expect(await found(folder, 'q8')).toBe('onnx/model_quantized.onnx')
  expect(await found(folder, 'quantized')).toBe('onnx/model_quantized.onnx')
  expect(await found(folder, 'fp32')).toBe('onnx/model.onnx')
})

test.each([
  [
    ['onnx/model.onnx', 'onnx/model_fp16.onnx'],
    'fp61',
    'has no ONNX file of the variant "fp61"; did you mean "fp16"? there are fp16, fp32',
  ],
  [['onnx/model.onnx'], '../../etc/passwd', 'has no ONNX file of the variant "../../etc/passwd"; there is fp32'],
  [['onnx/model_q4.onnx'], undefined, 'has no ONNX file in full precision; there is q4: choose with variant=q4'],
])('of %j the variant %s is refused', async (files, variant, message) => {
  await expect(findDecoder(await folderWith(...files), new FileDigests(), variant)).rejects.toThrow(message)
})

test('a folder without an ONNX file has no decoder', async () => {
  expect(await findDecoder(await folderWith('vision_encoder.txt'), new FileDigests())).toBeNull()
  expect(await findDecoder(await folderWith('onnx/vision_encoder.onnx'), new FileDigests())).toBeNull()
})

test('a file that is named is taken, cut to its last logits with its weights where they are', async () => {
  const folder = await folderWith('odd.onnx')
  const found = (await findDecoder(join(folder, 'odd.onnx'), new FileDigests()))!
  if (!('bytes' in found.ref)) throw new Error('it was not cut')
  expect(found.ref.bytes.length).toBeLessThan(2000)
  const { externalFiles, outputs } = await modelFromBytes(found.ref.bytes, found.ref.folder)
  expect(externalFiles.map(({ location }) => location)).toEqual(['odd.onnx'])
  expect(outputs[0]!.shape).toEqual(['b', 1, WIDE])
  expect(found.notes).toEqual(['logits of the last position alone, cut before MatMul "logits"'])
})

const blob = (number: number) => String(number).repeat(64)

/** Files of a snapshot as Hugging Face's cache has them: links to blobs. */
async function cacheWith(files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  const folder = join(await folderWith(), 'models--org--tiny')
  const snapshot = join(folder, 'snapshots', '0'.repeat(40), 'onnx')
  await mkdir(join(folder, 'blobs'), { recursive: true })
  await mkdir(snapshot, { recursive: true })
  for (const [i, [name, bytes]] of Object.entries(files).entries()) {
    await writeFile(join(folder, 'blobs', blob(i)), bytes)
    await symlink(`../../../blobs/${blob(i)}`, join(snapshot, name))
  }
  return dirname(snapshot)
}

/** The decoder with its weights in another file. */
function withExternal(location: string): Uint8Array {
  const proto = fromBinary(ModelProtoSchema, decoder(1))
  const [tensor] = proto.graph!.initializer
  tensor!.rawData = new Uint8Array(0)
  tensor!.dataLocation = TensorProto_DataLocation.EXTERNAL
  tensor!.externalData = [create(StringStringEntryProtoSchema, { key: 'location', value: location })]
  return writeModel(proto)
}

const WEIGHTS = new Uint8Array(2 * WIDE * 4)

async function externalOf(folder: string) {
  const { ref } = (await findDecoder(folder, new FileDigests()))!
  if (!('bytes' in ref)) throw new Error('it was not cut')
  return (await modelFromBytes(ref.bytes, ref.folder)).externalFiles.map(({ location }) => location)
}

test('links of a cache are followed, those to external data too', async () => {
  expect(await externalOf(await cacheWith({ 'model.onnx': decoder(1) }))).toEqual([blob(0)])
  const split = { 'model.onnx': withExternal('model.onnx_data'), 'model.onnx_data': WEIGHTS }
  expect(await externalOf(await cacheWith(split))).toEqual([blob(1)])
})

test('what is not in the cache, or outside of it, is refused', async () => {
  const missing = await cacheWith({ 'model.onnx': withExternal('model.onnx_data') })
  await expect(findDecoder(missing, new FileDigests())).rejects.toThrow(
    'external data of tensor "w" (initializer "w" in graph) names "model.onnx_data", which does not exist',
  )
  await writeFile(join(dirname(dirname(missing)), 'secret'), WEIGHTS)
  await symlink('../../../secret', join(missing, 'onnx/model.onnx_data'))
  await expect(findDecoder(missing, new FileDigests())).rejects.toThrow('which is or goes through a symbolic link')
  const climbing = await cacheWith({ 'model.onnx': withExternal('../../../secret') })
  await expect(findDecoder(climbing, new FileDigests())).rejects.toThrow("which leaves the model's folder")
})

test('a file that is also another’s is copied', async () => {
  const folder = await folderWith('model.onnx')
  await link(join(folder, 'model.onnx'), join(folder, 'other'))
  expect(await externalOf(folder)).toEqual([])
})

test('the digest is another one for other weights and for another graph', async () => {
  const folder = await folderWith('model.onnx')
  const path = join(folder, 'model.onnx')
  const digests: string[] = []
  for (const bytes of [decoder(1), decoder(2), decoder(1, ['x']), decoder(1)]) {
    await writeFile(path, bytes)
    digests.push((await findDecoder(folder, new FileDigests()))!.digest)
  }
  expect(new Set(digests.slice(0, 3)).size).toBe(3)
  expect(digests[3]).toBe(digests[0])
})

test('what it does not take is said', async () => {
  const folder = await folderWith()
  await writeFile(join(folder, 'model.onnx'), decoder(1, ['x']))
  expect((await findDecoder(folder, new FileDigests()))!.notes.slice(1)).toEqual([
    'it takes no position_ids: the model itself decides how padding counts',
    'it takes no past key values: every step computes the whole sequence again',
  ])
})
