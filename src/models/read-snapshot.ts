import { realpathSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { FormatError } from '../domain/errors.ts'
import { externalRange, isExternal } from '../onnx/external-data.ts'
import type { TensorProto } from '../onnx/generated/onnx-ml_pb.ts'
import { modelFromBytes, type OnnxModel, readModel, readStructure, writeModel } from '../onnx/model.ts'
import { tensorProtosOf } from '../onnx/walk.ts'

/**
 * A model of Hugging Face's cache, where every file of a snapshot is a link into a folder of blobs. External data is
 * looked for by the names that the blobs have; everything else is read where it really lies.
 */
export async function readSnapshot(path: string): Promise<OnnxModel> {
  const real = realpathSync(path)
  if (!isBlob(path, real)) return readModel(real)
  const proto = await readStructure(real)
  const external = [...tensorProtosOf(proto)].map(({ tensor }) => tensor).filter(isExternal)
  if (external.length === 0) return readModel(real)
  for (const tensor of external) nameBlob(tensor, path, dirname(real))
  return modelFromBytes(writeModel(proto), dirname(real), path)
}

/** `…/snapshots/<revision>/onnx/model.onnx` → `…/blobs/<digest>` */
function isBlob(path: string, real: string): boolean {
  const blobs = dirname(real)
  const folder = realpathSync(dirname(path))
  return basename(blobs) === 'blobs' && folder.startsWith(join(dirname(blobs), 'snapshots') + sep)
}

function nameBlob(tensor: TensorProto, path: string, blobs: string): void {
  const problem = (text: string) => refusal(path, tensor, text)
  const { location } = externalRange(tensor, problem)
  const real = realOf(join(dirname(path), location))
  if (real === null)
    throw problem(`${JSON.stringify(location)}, which is not in the cache; download the whole model again`)
  if (dirname(real) !== blobs) throw problem(`${JSON.stringify(location)}, which lies outside the model's blobs`)
  for (const entry of tensor.externalData) if (entry.key === 'location') entry.value = basename(real)
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

function refusal(path: string, { name }: TensorProto, text: string): FormatError {
  return new FormatError('external-data', `${path}: external data of tensor "${name}" names ${text}`)
}
