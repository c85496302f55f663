import { createHash } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { buildModel } from '../../onnx/builder.ts'
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
} from '../../onnx/generated/onnx-ml_pb.ts'
import { type Blob, packModel } from './packed-model.ts'

const SEAM = 2 ** 20
const WEIGHTS = new Uint8Array(12).fill(7)

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function contentOf(blob: Blob): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** y = x + w, with so many bytes before w, which lies in a file of its own where one is named. */
function modelOf(padding: number, location?: string): Uint8Array {
  const w = { dtype: 'float32', shape: [3], bytes: WEIGHTS } as const
  const bytes = buildModel({
    nodes: [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype: 'float32', shape: [3] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [3] }],
    initializers: { padding: { dtype: 'uint8', shape: [padding], bytes: new Uint8Array(padding) }, w },
  })
  return location === undefined ? bytes : withWeightsIn(location, bytes)
}

function withWeightsIn(value: string, bytes: Uint8Array): Uint8Array {
  const proto = fromBinary(ModelProtoSchema, bytes)
  const tensor = proto.graph!.initializer.find(({ name }) => name === 'w')!
  tensor.rawData = new Uint8Array(0)
  tensor.dataLocation = TensorProto_DataLocation.EXTERNAL
  tensor.externalData = [create(StringStringEntryProtoSchema, { key: 'location', value })]
  return toBinary(ModelProtoSchema, proto)
}

/** A model in whose file the word that betrays external data begins at this byte. */
function modelWithWordAt(place: number): Uint8Array {
  const wordIn = (bytes: Uint8Array) => Buffer.from(bytes).indexOf('location')
  const padding = place - 1000
  const model = modelOf(padding + place - wordIn(modelOf(padding, 'w.bin')), 'w.bin')
  expect(wordIn(model)).toBe(place)
  return model
}

async function save(bytes: Uint8Array) {
  const folder = await mkdtemp(join(tmpdir(), 'assay-shipment-'))
  const path = join(folder, 'model.onnx')
  await writeFile(path, bytes)
  await writeFile(join(folder, 'w.bin'), WEIGHTS)
  return { format: 'onnx', path } as const
}

describe('a packed model', () => {
  test.each([10, SEAM - 200, SEAM, 3 * SEAM])('of %i bytes and some is its bytes and their digest', async (size) => {
    const bytes = modelOf(size)
    const ref = await save(bytes)
    for (const model of [ref, { format: 'onnx', bytes, folder: dirname(ref.path) } as const]) {
      const { model: wire, blobs } = await packModel(model)
      expect(wire).toEqual({ format: 'onnx', blob: sha256(bytes), external: [] })
      expect(blobs.map(({ digest, byteLength }) => [digest, byteLength])).toEqual([[sha256(bytes), bytes.length]])
      expect((await contentOf(blobs[0]!)).equals(bytes)).toBe(true)
    }
  })

  test.each([2000, SEAM - 9, SEAM - 8, SEAM - 7, SEAM - 4, SEAM - 1, SEAM, SEAM + 1, 3 * SEAM - 3])(
    'has its external data with it, where the file tells of it at byte %i',
    async (place) => {
      const bytes = modelWithWordAt(place)
      const ref = await save(bytes)
      for (const model of [ref, { format: 'onnx', bytes, folder: dirname(ref.path) } as const]) {
        const { model: wire, blobs } = await packModel(model)
        expect(wire.external).toEqual([{ location: 'w.bin', blob: sha256(WEIGHTS) }])
        expect(blobs.map(({ digest }) => digest)).toEqual([sha256(bytes), sha256(WEIGHTS)])
        expect((await contentOf(blobs[1]!)).equals(WEIGHTS)).toBe(true)
      }
    },
  )

  test.each(['../w.bin', '/etc/passwd', 'missing.bin'])('takes no external data from %s', async (location) => {
    await expect(packModel(await save(modelOf(10, location)))).rejects.toThrow(location)
  })
})

test('a Hugging Face folder is not sent, and that is said', async () => {
  await expect(packModel({ format: 'huggingface', path: '/models/llama' })).rejects.toMatchObject({
    stage: 'compile',
    message: expect.stringContaining('huggingface models are not sent; take a target on this machine'),
  })
})
