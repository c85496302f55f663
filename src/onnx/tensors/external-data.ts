import { constants } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { DTYPES, dtypeFromOnnx } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'
import { type ModelProto, type TensorProto, TensorProto_DataLocation } from '../generated/onnx-ml_pb.ts'
import { type FoundTensor, walkTensorProtos } from '../walk.ts'
import { findHubBlob } from './hub-blob.ts'
import { checkShape } from './tensor-shape.ts'

/** A file beside the model that holds weights. */
export interface ExternalFile {
  readonly location: string
  readonly path: string
  readonly byteLength: number
}

interface ExternalRange {
  readonly location: string
  readonly offset: number
  /** null: as many bytes as dtype and shape take. */
  readonly length: number | null
}

/** Keys that onnxruntime or onnx act on; anything else is an attempt to reach an attribute by name. */
const KEYS: readonly string[] = ['location', 'offset', 'length', 'checksum']

/**
 * Checks every tensor whose data lies in another file: inside the model's folder, a regular file of its own without links
 * (but those of the Hugging Face cache), and large enough. onnxruntime itself follows hard links.
 */
export async function checkExternalData(proto: ModelProto, folder: string, what: string): Promise<ExternalFile[]> {
  const files = new Map<string, ExternalFile>()
  for (const found of walkTensorProtos(proto)) {
    if (!isExternal(found.tensor)) continue
    const problem = (text: string) => refusal(what, found, text)
    const range = externalRange(found.tensor, problem)
    const file = files.get(range.location) ?? (await checkFile(range.location, folder, problem))
    files.set(range.location, file)
    checkRange(found.tensor, range, file, problem)
  }
  return [...files.values()]
}

type Problem = (text: string) => FormatError

export function isExternal(tensor: TensorProto): boolean {
  return tensor.dataLocation === TensorProto_DataLocation.EXTERNAL || tensor.externalData.length > 0
}

/** Points a tensor's external data to another file with the same content. */
export function renameLocation(tensor: TensorProto, names: ReadonlyMap<string, string>): void {
  for (const entry of tensor.externalData) {
    if (entry.key === 'location') entry.value = names.get(entry.value) ?? entry.value
  }
}

export function externalRange(tensor: TensorProto, problem: Problem): ExternalRange {
  const entries = new Map<string, string>()
  for (const { key, value } of tensor.externalData) {
    if (!KEYS.includes(key))
      throw problem(`the key ${JSON.stringify(key.slice(0, 80))}, expected one of ${KEYS.join(', ')}`)
    if (entries.has(key)) throw problem(`the key ${key} twice`)
    entries.set(key, value)
  }
  const location = entries.get('location')
  if (!location) throw problem('no location')
  if (tensor.rawData.length > 0) throw problem('data that is also inside the model')
  checkLocation(location, problem)
  const length = entries.get('length')
  return {
    location,
    offset: byteCount(entries.get('offset') ?? '0', 'offset', problem),
    length: length === undefined ? null : byteCount(length, 'length', problem),
  }
}

function checkLocation(location: string, problem: Problem): void {
  const shown = JSON.stringify(location.slice(0, 200))
  if (/[\\\u0000-\u001f\u007f]/.test(location))
    throw problem(`the location ${shown} with a backslash or control character`)
  if (location.startsWith('/') || /^[A-Za-z]:/.test(location)) throw problem(`the absolute path ${shown}`)
  const parts = location.split('/')
  if (parts.includes('..') || parts.includes('')) throw problem(`the path ${shown}, which leaves the model's folder`)
  if (location.startsWith('*/')) throw problem(`the location ${shown}, which onnxruntime takes for a memory address`)
}

function byteCount(text: string, key: string, problem: Problem): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(value))
    throw problem(`the ${key} ${JSON.stringify(text.slice(0, 40))}, not a number of bytes`)
  return value
}

async function checkFile(location: string, folder: string, problem: Problem): Promise<ExternalFile> {
  const shown = JSON.stringify(location)
  const blob = await checkNoLinks(location, folder, problem)
  const path = blob ?? join(folder, location)
  const root = await realpath(folder)
  if (blob === null && !(await realpath(path)).startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw problem(`${shown}, which lies outside the model's folder`)
  }
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw problem(`${shown}, which is not a regular file`)
    if (stat.nlink !== 1)
      throw problem(`${shown}, which has ${stat.nlink} hard links, expected a file of its own (copy it)`)
    return { location, path, byteLength: stat.size }
  } finally {
    await handle.close()
  }
}

/** Gives the file that a link of the Hugging Face cache stands for; null: nothing is a link. */
async function checkNoLinks(location: string, folder: string, problem: Problem): Promise<string | null> {
  const parts = location.split('/')
  let path = folder
  for (const [i, part] of parts.entries()) {
    path = join(path, part)
    const stat = await lstat(path).catch(() => null)
    if (!stat) throw problem(`${JSON.stringify(location)}, which does not exist (put it beside the model)`)
    if (!stat.isSymbolicLink()) continue
    const blob = i === parts.length - 1 ? await findHubBlob(path) : null
    if (blob !== null) return blob
    throw problem(`${JSON.stringify(location)}, which is or goes through a symbolic link (copy it)`)
  }
  return null
}

function checkRange(tensor: TensorProto, range: ExternalRange, file: ExternalFile, problem: Problem): void {
  const needed = neededBytes(tensor, problem)
  const length = range.length ?? needed ?? file.byteLength - range.offset
  if (needed !== null && length !== needed)
    throw problem(`a length of ${length} bytes, but its dtype and shape need ${needed}`)
  if (length < 0 || range.offset + length > file.byteLength) {
    const end = range.offset + Math.max(0, length)
    throw problem(`bytes ${range.offset} to ${end} of ${JSON.stringify(range.location)}, which has ${file.byteLength}`)
  }
}

/** null if the size of the dtype is unknown. */
function neededBytes(tensor: TensorProto, problem: Problem): number | null {
  const dtype = dtypeFromOnnx(tensor.dataType)
  if (dtype === 'string') throw problem('strings, which cannot lie in another file')
  const { count } = checkShape(tensor.dims, problem)
  return dtype ? Math.ceil((count * DTYPES[dtype].bits) / 8) : null
}

function refusal(what: string, { tensor, where }: FoundTensor, found: string): FormatError {
  const name = tensor.name ? ` "${tensor.name}"` : ''
  const text = `${what}: external data of tensor${name} (${where}) names ${found}`
  return new FormatError('external-data', `${text}; expected a plain file inside the model's folder`)
}
