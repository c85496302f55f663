import { basename, dirname } from 'node:path'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FormatError } from '../domain/errors.ts'
import type { ValueSpec } from '../domain/tensor.ts'
import { readExactly, withFile } from '../files/disk/read-range.ts'
import { whyUnreadable } from '../files/disk/unreadable.ts'
import { describeStart } from '../files/formats/magic.ts'
import { checkFunctions } from './functions.ts'
import { type GraphProto, type ModelProto, ModelProtoSchema } from './generated/onnx-ml_pb.ts'
import { checkExternalData, type ExternalFile, renameLocation } from './tensors/external-data.ts'
import { findHubBlob } from './tensors/hub-blob.ts'
import { inputSpecs, uniqueOutputs } from './tensors/value-spec.ts'
import { normaliseDomain, walkTensorProtos } from './walk.ts'
import { checkWire } from './wire.ts'

const MAX_MODEL_BYTES = 2 ** 31 - 1

/** Facts from a model's structure. */
export interface ModelFacts {
  readonly proto: ModelProto
  readonly graph: GraphProto
  /** Inputs without an initializer. */
  readonly inputs: readonly ValueSpec[]
  readonly outputs: readonly ValueSpec[]
  /** Version by domain; ONNX's own is ''. */
  readonly opsets: ReadonlyMap<string, number>
  readonly producer: string
}

/** A model that was read and checked, external data included; only such a one may reach a runtime. */
export interface OnnxModel extends ModelFacts {
  /** null for an edited model that exists in memory only. */
  readonly path: string | null
  /** Where its external data lies. */
  readonly folder: string
  /** The file in that folder with the content `bytes`; null: none. */
  readonly fileName: string | null
  readonly bytes: Uint8Array
  readonly externalFiles: readonly ExternalFile[]
}

export async function readModel(path: string): Promise<OnnxModel> {
  const bytes = await readModelBytes(path)
  const model = { ...(await modelFromBytes(bytes, dirname(path), path)), path, fileName: basename(path) }
  const blob = await findHubBlob(path)
  return blob === null ? model : fromBlob(model, blob)
}

/**
 * A link of the Hugging Face cache, as the file that it stands for: onnxruntime refuses an edited model whose weights lie
 * behind a link out of its folder.
 */
async function fromBlob(model: OnnxModel & { readonly path: string }, blob: string): Promise<OnnxModel> {
  const [folder, { path, externalFiles }] = [dirname(blob), model]
  if (externalFiles.length === 0) return { ...model, folder, fileName: basename(blob) }
  if (externalFiles.some((file) => dirname(file.path) !== folder)) return model
  const names = new Map(externalFiles.map((file) => [file.location, basename(file.path)]))
  for (const { tensor } of walkTensorProtos(model.proto)) renameLocation(tensor, names)
  return { ...(await modelFromBytes(writeModel(model.proto), folder, path)), path }
}

/** The same checks for bytes in memory whose external data lies in `folder`. */
export async function modelFromBytes(bytes: Uint8Array, folder: string, what = 'the model'): Promise<OnnxModel> {
  const { proto, graph } = parseModel(bytes, what)
  const externalFiles = await checkExternalData(proto, folder, what)
  return { path: null, folder, fileName: null, bytes, ...modelFacts(proto, graph), externalFiles }
}

/** Reads a model's structure for display only. Its external data is not checked, so no runtime may get it. */
export async function readStructure(path: string): Promise<ModelProto> {
  return parseModel(await readModelBytes(path), path).proto
}

/** The version of ai.onnx that a model imports; null where it imports none. */
export async function readOpset(model: string | Uint8Array): Promise<number | null> {
  const proto = typeof model === 'string' ? await readStructure(model) : parseModel(model, 'the model').proto
  const own = proto.opsetImport.find((opset) => normaliseDomain(opset) === '')
  return own ? Number(own.version) : null
}

export function modelFacts(proto: ModelProto, graph: GraphProto): ModelFacts {
  return {
    proto,
    graph,
    inputs: inputSpecs(graph),
    outputs: uniqueOutputs(graph),
    opsets: new Map(proto.opsetImport.map((opset) => [normaliseDomain(opset), Number(opset.version)])),
    producer: [proto.producerName, proto.producerVersion].filter(Boolean).join(' '),
  }
}

export function writeModel(proto: ModelProto): Uint8Array {
  return toBinary(ModelProtoSchema, proto)
}

async function readModelBytes(path: string): Promise<Uint8Array> {
  try {
    return await withFile(path, (handle, byteLength) => {
      if (byteLength > MAX_MODEL_BYTES) throw tooLarge(path, byteLength)
      return readExactly(handle, 0, byteLength, path)
    })
  } catch (error) {
    if (error instanceof FormatError) throw error
    const why = whyUnreadable(path)
    if (why !== null) throw new FormatError('unreadable', `${path} ${why}`, { cause: error })
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (missing) throw new FormatError('missing', `${path} does not exist; give the path of an ONNX model`)
    throw error
  }
}

function tooLarge(path: string, byteLength: number): FormatError {
  const text = `${path} has ${byteLength} bytes, but protobuf allows less than 2 GiB`
  return new FormatError(
    'too-large',
    `${text}; save the weights as external data (onnx.save with save_as_external_data)`,
  )
}

function parseModel(bytes: Uint8Array, what: string): { proto: ModelProto; graph: GraphProto } {
  if (bytes.length === 0) throw notModel(what, 'an empty file')
  checkLooksLikeModel(bytes, what)
  checkWire(ModelProtoSchema, bytes, what)
  const proto = fromBinary(ModelProtoSchema, bytes)
  if (!proto.graph) throw notModel(what, 'protobuf data without a graph')
  checkOpsets(proto, what)
  checkFunctions(proto, what)
  checkInputNames(proto.graph, what)
  return { proto, graph: proto.graph }
}

/** A ModelProto begins with one of its own fields; anything else is better described by what it is. */
function checkLooksLikeModel(bytes: Uint8Array, what: string): void {
  const known = new Set(ModelProtoSchema.fields.map((field) => field.number))
  if (!known.has(bytes[0]! >> 3) && bytes[0]! < 0x80) throw notModel(what, describeStart(bytes))
  const described = describeStart(bytes)
  if (!described.startsWith('bytes')) throw notModel(what, described)
}

function checkOpsets(proto: ModelProto, what: string): void {
  if (proto.opsetImport.length === 0) {
    throw new FormatError('no-opset', `${what} imports no operator set, expected at least one; export it again`)
  }
  const wrong = proto.opsetImport.find(({ version }) => version < 1n || version > 1_000_000n)
  if (!wrong) return
  const text = `${what} imports version ${wrong.version} of operator set "${wrong.domain || 'ai.onnx'}"`
  throw new FormatError('opset', `${text}, which cannot exist; export it again`)
}

/** Every runtime refuses such a model, each with a different message. */
function checkInputNames({ input }: GraphProto, what: string): void {
  const seen = new Set<string>()
  const twice = input.find(({ name }) => seen.size === seen.add(name).size)
  if (twice === undefined) return
  const text = `${what} defines its input "${twice.name}" twice, which ONNX does not allow`
  throw new FormatError('input-twice', `${text}; give one of them another name, or leave it out, and export it again`)
}

function notModel(what: string, found: string): FormatError {
  return new FormatError('not-onnx', `${what} is ${found}, expected an ONNX model; give an .onnx file`)
}
