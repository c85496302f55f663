import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { fileChunks, readRegularFile } from '../../files/disk/regular-file.ts'
import type { ModelRef } from '../contract.ts'
import { asBuffer } from '../protocol/bytes.ts'
import type { BlobModel } from '../protocol/messages.ts'

/** Content that is sent once and then named by its digest. */
export interface Blob {
  readonly digest: string
  readonly byteLength: number
  chunks(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** A model, packed for a worker that does not see our files. */
export interface PackedModel {
  readonly model: BlobModel
  readonly blobs: readonly Blob[]
}

const CHUNK_BYTES = 2 ** 20
/** Only a model with external data has this word in it. */
const EXTERNAL_WORD = 'location'

export async function packModel(model: ModelRef): Promise<PackedModel> {
  if (model.format !== 'onnx') throw notShipped(model.format)
  const { blob, mentionsExternal } = 'path' in model ? await packFile(model.path) : packBytes(model.bytes)
  const files = mentionsExternal ? await packExternal(model) : []
  const external = files.map((file) => ({ location: file.location, blob: file.blob.digest }))
  return {
    model: { format: model.format, blob: blob.digest, external },
    blobs: [blob, ...files.map((file) => file.blob)],
  }
}

function notShipped(format: string): StageError {
  const problem = `it does not see our files, and ${format} models are not sent`
  return new StageError('compile', `${problem}; take a target on this machine, or an ONNX model`)
}

interface Packed {
  readonly blob: Blob
  readonly mentionsExternal: boolean
}

/** Reads the file twice, once for its digest and once to send it, and never holds it. */
async function packFile(path: string): Promise<Packed> {
  const { size } = await stat(path)
  const hash = createHash('sha256')
  let mentionsExternal = false
  let seam: Buffer = Buffer.alloc(0)
  for await (const piece of pieces(path)) {
    hash.update(piece)
    mentionsExternal ||= piece.includes(EXTERNAL_WORD) || acrossSeam(seam, piece)
    seam = piece.subarray(-EXTERNAL_WORD.length)
  }
  return { blob: { digest: hash.digest('hex'), byteLength: size, chunks: () => pieces(path) }, mentionsExternal }
}

function acrossSeam(before: Buffer, piece: Buffer): boolean {
  return Buffer.concat([before, piece.subarray(0, EXTERNAL_WORD.length)]).includes(EXTERNAL_WORD)
}

function pieces(path: string): AsyncIterable<Buffer> {
  return fileChunks(path, CHUNK_BYTES)
}

function packBytes(bytes: Uint8Array): Packed {
  const blob = { digest: computeDigest(bytes), byteLength: bytes.length, chunks: () => [bytes] }
  return { blob, mentionsExternal: asBuffer(bytes).includes(EXTERNAL_WORD) }
}

async function packExternal(model: ModelRef): Promise<{ location: string; blob: Blob }[]> {
  const { modelFromBytes } = await import('../../onnx/model.ts')
  const [bytes, folder] =
    'path' in model
      ? [await readRegularFile(model.path, Number.POSITIVE_INFINITY), dirname(model.path)]
      : [model.bytes, model.folder]
  const { externalFiles } = await modelFromBytes(bytes, folder)
  const packed: { location: string; blob: Blob }[] = []
  for (const { location, path } of externalFiles) packed.push({ location, blob: (await packFile(path)).blob })
  return packed
}
