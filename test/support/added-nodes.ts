import { create } from '@bufbuild/protobuf'
import { DTYPES, type DType } from '../../src/domain/dtype.ts'
import {
  type AttributeProto,
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  type ModelProto,
  type NodeProto,
  NodeProtoSchema,
  type TensorProto,
} from '../../src/onnx/generated/onnx-ml_pb.ts'
import { tensorFromProto, tensorToProto } from '../../src/onnx/tensors/tensor-proto.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'

/** Nodes on their way into a graph, with the constants that they take. */
export class AddedNodes {
  readonly nodes: NodeProto[] = []
  readonly #proto: ModelProto
  readonly #scope: string
  #count = 0

  constructor(proto: ModelProto, scope: string) {
    this.#proto = proto
    this.#scope = scope
  }

  add(opType: string, input: string[], attribute: AttributeProto[] = []): string {
    const name = this.#fresh()
    this.nodes.push(create(NodeProtoSchema, { opType, name, input, output: [name], attribute }))
    return name
  }

  slice(from: string, start: number, end: number, axis = 2): string {
    return this.add('Slice', [from, ...[start, end, axis].map((value) => this.integers(value))])
  }

  concat(parts: string[], axis = 2): string {
    return this.add('Concat', parts, [integerAttribute('axis', axis)])
  }

  cast(value: string, dtype: DType): string {
    return this.add('Cast', [value], [integerAttribute('to', DTYPES[dtype].onnx)])
  }

  roundToBfloat16(value: string): string {
    return this.cast(this.cast(value, 'bfloat16'), 'float32')
  }

  integersAttribute(name: string, values: number[]): AttributeProto {
    return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INTS, ints: values.map(BigInt) })
  }

  number(value: number): string {
    return this.numbers([], [value])
  }

  numbers(shape: number[], values: number[]): string {
    return this.initializer({ dtype: 'float32', shape, bytes: encodeNumbers('float32', values) })
  }

  integers(...values: number[]): string {
    return this.initializer({ dtype: 'int64', shape: [values.length], bytes: encodeNumbers('int64', values) })
  }

  initializer(tensor: Parameters<typeof tensorToProto>[1]): string {
    const name = this.#fresh()
    this.#proto.graph!.initializer.push(tensorToProto(name, tensor))
    return name
  }

  #fresh(): string {
    return `${this.#scope}/fault_${this.#count++}`
  }
}

function integerAttribute(name: string, value: number): AttributeProto {
  return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INT, i: BigInt(value) })
}

export function nodeNamed(proto: ModelProto, name: string): NodeProto {
  const found = proto.graph!.node.find((node) => node.name === name)
  if (!found) throw new Error(`the export has no node ${name}`)
  return found
}

export function tensorNamed(proto: ModelProto, name: string): TensorProto {
  const found = proto.graph!.initializer.find((tensor) => tensor.name === name)
  if (!found) throw new Error(`the export has no weight ${name}`)
  return found
}

export function numbersOf(proto: ModelProto, name: string): BigInt64Array {
  return new BigInt64Array(tensorFromProto(tensorNamed(proto, name)).bytes.slice().buffer)
}
