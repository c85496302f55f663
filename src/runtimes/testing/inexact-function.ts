import { readFileSync } from 'node:fs'
import { create, fromBinary } from '@bufbuild/protobuf'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
} from '../../onnx/generated/onnx-ml_pb.ts'
import { writeModel } from '../../onnx/model.ts'
import { tensorToProto } from '../../onnx/tensors/tensor-proto.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import type { InProcessKind, ModelRef } from '../contract.ts'
import { realOrt } from './in-process-ort.ts'
import { plantedKind } from './planted-fault.ts'

/** How a kernel computes a function otherwise, wherever it is in a model. */
export interface Inexact {
  readonly op: string
  /** Computed in its place. */
  readonly as?: string
  /** Added to what it takes. */
  readonly before?: number
  /** Added to what it gives. */
  readonly after?: number
}

/** onnxruntime as a target whose kernels are written in WGSL, with a function of its own. */
export function shaderKind(name: string, inexact: Inexact): InProcessKind {
  const real = realOrt()
  const runtime = {
    ...real,
    open: (model: ModelRef, options: Parameters<typeof real.open>[1]) => real.open(edited(model, inexact), options),
  }
  return plantedKind(name, { capabilities: { shaders: 'wgsl' } }, () => runtime)
}

function edited(model: ModelRef, inexact: Inexact): ModelRef {
  if (model.format !== 'onnx') return model
  const proto = fromBinary(ModelProtoSchema, 'bytes' in model ? model.bytes : readFileSync(model.path))
  const graph = proto.graph!
  graph.node = graph.node.flatMap((node) => (node.opType === inexact.op ? replaced(node, inexact) : [node]))
  return { format: 'onnx', bytes: writeModel(proto), folder: '.' }
}

function replaced(node: NodeProto, { op, as = op, before = 0, after = 0 }: Inexact): NodeProto[] {
  const [input, output] = [node.input[0]!, node.output[0]!]
  return [
    constant(`${output}_before`, before),
    create(NodeProtoSchema, { opType: 'Add', input: [input, `${output}_before`], output: [`${output}_taken`] }),
    create(NodeProtoSchema, { opType: as, input: [`${output}_taken`], output: [`${output}_given`] }),
    constant(`${output}_after`, after),
    create(NodeProtoSchema, { opType: 'Add', input: [`${output}_given`, `${output}_after`], output: [output] }),
  ]
}

function constant(name: string, value: number): NodeProto {
  const t = tensorToProto('', { dtype: 'float32', shape: [], bytes: encodeNumbers('float32', [value]) })
  const attribute = create(AttributeProtoSchema, { name: 'value', type: AttributeProto_AttributeType.TENSOR, t })
  return create(NodeProtoSchema, { opType: 'Constant', output: [name], attribute: [attribute] })
}
