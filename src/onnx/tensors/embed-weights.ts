import { fromBinary } from '@bufbuild/protobuf'
import { ModelProtoSchema, TensorProto_DataLocation } from '../generated/onnx-ml_pb.ts'
import { type OnnxModel, writeModel } from '../model.ts'
import { walkTensorProtos } from '../walk.ts'
import { isExternal } from './external-data.ts'
import { readTensor } from './read-tensor.ts'

/** A copy of a model with all of its weights inside. */
export async function embedWeights(model: OnnxModel): Promise<Uint8Array> {
  if (model.externalFiles.length === 0) return model.bytes
  const proto = fromBinary(ModelProtoSchema, model.bytes)
  for (const { tensor } of walkTensorProtos(proto)) {
    if (!isExternal(tensor)) continue
    const { bytes } = await readTensor(model, tensor)
    Object.assign(tensor, { rawData: bytes, externalData: [], dataLocation: TensorProto_DataLocation.DEFAULT })
  }
  return writeModel(proto)
}
