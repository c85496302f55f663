import { create } from '@bufbuild/protobuf'
import { StringStringEntryProtoSchema, type TensorProto, TensorProto_DataLocation } from '../generated/onnx-ml_pb.ts'
import type { OnnxModel } from '../model.ts'

/** Smaller ones are cheaper to copy than to refer to. */
const LEAST_BYTES = 2 ** 16
const EMPTY = new Uint8Array(0)

/** Weights for an edited copy: large ones refer into the original file, so that they need not be written again. */
export function referWeights(weights: readonly TensorProto[], original: OnnxModel): TensorProto[] {
  const { fileName, bytes } = original
  if (fileName === null) return [...weights]
  return weights.map((tensor) => {
    const { rawData } = tensor
    if (rawData.length < LEAST_BYTES || rawData.buffer !== bytes.buffer) return tensor
    const offset = rawData.byteOffset - bytes.byteOffset
    return referTo(tensor, { location: fileName, offset, byteLength: rawData.length })
  })
}

interface Place {
  readonly location: string
  readonly offset: number
  readonly byteLength: number
}

/** The tensor with its data in another file. */
export function referTo(tensor: TensorProto, { location, offset, byteLength }: Place): TensorProto {
  const entries = { location, offset: String(offset), length: String(byteLength) }
  const externalData = Object.entries(entries).map(([key, value]) =>
    create(StringStringEntryProtoSchema, { key, value }),
  )
  return { ...tensor, externalData, dataLocation: TensorProto_DataLocation.EXTERNAL, rawData: EMPTY }
}
