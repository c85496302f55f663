import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DTYPES, dtypeFromOnnx } from '../../domain/dtype.ts'
import { FormatError, SkipCase } from '../../domain/errors.ts'
import type { Tensor } from '../../domain/tensor.ts'
import { readExactly } from '../../files/disk/read-range.ts'
import type { TensorProto } from '../generated/onnx-ml_pb.ts'
import type { OnnxModel } from '../model.ts'
import { externalRange, isExternal } from './external-data.ts'
import { tensorFromProto } from './tensor-proto.ts'
import { checkShape } from './tensor-shape.ts'

/** A tensor of a checked model, wherever its data lies. */
export async function readTensor(model: OnnxModel, proto: TensorProto): Promise<Tensor> {
  if (!isExternal(proto)) return tensorFromProto(proto)
  const problem = (text: string) => new FormatError('external-data', `tensor "${proto.name}" names ${text}`)
  const dtype = dtypeFromOnnx(proto.dataType)
  if (!dtype) throw new SkipCase(`tensor "${proto.name}" has ONNX dtype ${proto.dataType}, which Assay cannot decode`)
  const { location, offset } = externalRange(proto, problem)
  const file = model.externalFiles.find((known) => known.location === location)
  if (!file) throw problem(`"${location}", which was not checked with the model`)
  const { shape, count } = checkShape(proto.dims, problem)
  const byteLength = Math.ceil((count * DTYPES[dtype].bits) / 8)
  const handle = await open(
    join(model.folder, location),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  )
  try {
    return { dtype, shape, bytes: await readExactly(handle, offset, byteLength, file.path) }
  } finally {
    await handle.close()
  }
}
