import { isUtf8 } from 'node:buffer'
import { DTYPES, dtypeFromOnnx } from '../../domain/dtype.ts'
import { FormatError, SkipCase } from '../../domain/errors.ts'
import { elementCount, type ValueSpec } from '../../domain/tensor.ts'
import { cleanText, formatBytes, formatNumber } from '../../domain/text.ts'
import { formatElement, formatString } from '../../tensors/format-element.ts'
import { decodeStrings } from '../../tensors/strings.ts'
import {
  type AttributeProto,
  AttributeProto_AttributeType as AttributeType,
  type FunctionProto,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from '../generated/onnx-ml_pb.ts'
import { externalRange, isExternal } from '../tensors/external-data.ts'
import { tensorFromProto } from '../tensors/tensor-proto.ts'
import { valueSpec } from '../tensors/value-spec.ts'
import { listGraphs, normaliseDomain } from '../walk.ts'

/** Constants with more elements are elided, lists in attributes too. */
const ELEMENTS_SHOWN = 16
const DIMS_SHOWN = 64
const LONGEST_NAME = 160

/** A model as text, with a line for every input, output, constant and node; external weights are not read. */
export function listModel(proto: ModelProto): string {
  const opsets = proto.opsetImport.map((opset) => `${cleanName(normaliseDomain(opset) || 'ai.onnx')} ${opset.version}`)
  const producer = [proto.producerName, proto.producerVersion].filter(Boolean).join(' ')
  const lines = [
    `ir version ${proto.irVersion}, opset ${opsets.join(', ')}${producer && `, from ${cleanName(producer)}`}`,
    ...(proto.graph ? graphLines(proto.graph, new Set(), '') : []),
    ...proto.functions.flatMap(functionLines),
  ]
  return `${lines.join('\n')}\n`
}

/** Names of constants are written with @, all others with %. */
type Constants = Pick<ReadonlySet<string>, 'has'>

function graphLines(graph: GraphProto, outer: Constants, indent: string): string[] {
  const tensors = [...graph.initializer, ...graph.sparseInitializer.flatMap(({ values }) => values ?? [])]
  const [own, taken] = [tensors, graph.input].map((values) => new Set(values.map(({ name }) => name)))
  const constants = { has: (name: string) => own!.has(name) || (!taken!.has(name) && outer.has(name)) }
  const types = new Map([...graph.valueInfo, ...graph.output].map((info) => [info.name, typeText(info)]))
  return [
    ...section('inputs', graph.input.map(valueLine), indent),
    ...section('outputs', graph.output.map(valueLine), indent),
    ...section('constants', graph.initializer.map(constantLine), indent),
    ...section('sparse constants', graph.sparseInitializer.map(sparseLine), indent),
    ...section('nodes', nodesLines(graph.node, constants, types), indent, graph.node.length),
  ]
}

function section(title: string, lines: readonly string[], indent: string, count = lines.length): string[] {
  return count === 0 ? [] : [`${indent}${title} (${count})`, ...lines.map((line) => `${indent}  ${line}`)]
}

function functionLines({ domain, name, overload, input, output, node }: FunctionProto): string[] {
  const title = cleanName([domain, name, overload].filter(Boolean).join('.'))
  const head = `function ${title}(${input.map(shownValue).join(', ')}) -> (${output.map(shownValue).join(', ')})`
  return [head, ...section('nodes', nodesLines(node, new Set(), new Map()), '  ', node.length)]
}

const shownValue = (name: string) => `%${cleanName(name)}`

function valueLine(info: ValueInfoProto): string {
  return `${shownValue(info.name)}${withColon(typeText(info))}`
}

function withColon(type: string | undefined): string {
  return type ? `: ${type}` : ''
}

/** `float32[1,8,?,width]`; empty where nothing is declared. */
function typeText(info: ValueInfoProto): string {
  const { kind, dtype, shape } = valueSpec(info)
  const content = dtype ? `${dtype}${shape ? shapeText(shape) : ''}` : ''
  return kind === 'tensor' ? content : `${kind}(${content})`
}

function shapeText(shape: NonNullable<ValueSpec['shape']>): string {
  return `[${shape
    .slice(0, DIMS_SHOWN)
    .map((dim) => (typeof dim === 'string' ? cleanName(dim) : (dim ?? '?')))
    .join(',')}]`
}

function nodesLines(nodes: readonly NodeProto[], constants: Constants, types: ReadonlyMap<string, string>): string[] {
  return nodes.flatMap((node) => [nodeLine(node, constants, types), ...subGraphLines(node, constants)])
}

/** `%out: float32[1,8] = Conv(%in, @weight) {pads=[1,1,1,1]} "name"` */
function nodeLine(node: NodeProto, constants: Constants, types: ReadonlyMap<string, string>): string {
  const outputs = node.output.map((name) => (name ? `${shownValue(name)}${withColon(types.get(name))}` : '_'))
  const inputs = node.input.map((name) => inputText(name, constants))
  const attributes = node.attribute.map((attribute) => `${cleanName(attribute.name)}=${attributeText(attribute)}`)
  const made = outputs.length > 0 ? `${outputs.join(', ')} = ` : ''
  const settings = attributes.length > 0 ? ` {${attributes.join(', ')}}` : ''
  return `${made}${opText(node)}(${inputs.join(', ')})${settings}${node.name && ` "${cleanName(node.name)}"`}`
}

/** An input as the listing writes it; `_` for an omitted one. */
export function inputText(name: string, constants: Constants): string {
  if (name === '') return '_'
  return `${constants.has(name) ? '@' : '%'}${cleanName(name)}`
}

/** `Conv`, `com.microsoft.FusedConv` */
function opText(node: NodeProto): string {
  const domain = normaliseDomain(node)
  return cleanName(domain ? `${domain}.${node.opType}` : node.opType)
}

export function cleanName(name: string): string {
  return cleanText(name, LONGEST_NAME)
}

function subGraphLines(node: NodeProto, constants: Constants): string[] {
  return node.attribute.flatMap((attribute) =>
    listGraphs(attribute).flatMap((graph) => [
      `  ${cleanName(attribute.name)}`,
      ...graphLines(graph, constants, '    '),
    ]),
  )
}

export function attributeText(attribute: AttributeProto): string {
  if (attribute.refAttrName) return `@${cleanName(attribute.refAttrName)} of the function`
  const { type } = attribute
  if (type === AttributeType.INT) return String(attribute.i)
  if (type === AttributeType.FLOAT) return formatNumber(attribute.f, 7)
  if (type === AttributeType.STRING) return bytesText(attribute.s)
  if (type === AttributeType.INTS) return listText(attribute.ints, String)
  if (type === AttributeType.FLOATS) return listText(attribute.floats, (value) => formatNumber(value, 7))
  if (type === AttributeType.STRINGS) return listText(attribute.strings, bytesText)
  if (attribute.t) return tensorText(attribute.t)
  if (attribute.tensors.length > 0) return listText(attribute.tensors, tensorText)
  if (listGraphs(attribute).length > 0) return 'graph below'
  return `(${AttributeType[type] ?? `type ${type}`})`
}

function listText<T>(items: readonly T[], textOf: (item: T) => string): string {
  const shown = items.slice(0, ELEMENTS_SHOWN).map(textOf)
  const rest = items.length - shown.length
  return `[${shown.join(',')}${rest > 0 ? `,… ${rest} more` : ''}]`
}

function bytesText(bytes: Uint8Array): string {
  return isUtf8(bytes) ? cleanName(formatString(new TextDecoder().decode(bytes))) : `(${bytes.length} bytes)`
}

function constantLine(tensor: TensorProto): string {
  return `@${cleanName(tensor.name)}: ${tensorText(tensor)}`
}

function sparseLine({ values, dims }: GraphProto['sparseInitializer'][number]): string {
  return `@${cleanName(values?.name ?? '')}: sparse [${dims.join(',')}]${values ? ` of ${tensorText(values)}` : ''}`
}

/** `float32[2] {1,2}`, `float32[8,3,3,3] … 864 B`, `float32[8,3] in "weights.bin"` */
function tensorText(tensor: TensorProto): string {
  const dtype = dtypeFromOnnx(tensor.dataType)
  const type = `${dtype ?? `ONNX dtype ${tensor.dataType}`}[${tensor.dims.slice(0, DIMS_SHOWN).join(',')}]`
  if (isExternal(tensor)) return `${type} in ${externalText(tensor)}`
  const count = elementCount(tensor.dims.map(Number))
  if (dtype && count <= ELEMENTS_SHOWN) return `${type} ${valuesText(tensor)}`
  const byteLength = dtype && dtype !== 'string' ? Math.ceil((count * DTYPES[dtype].bits) / 8) : NaN
  return `${type} …${Number.isFinite(byteLength) ? ` ${formatBytes(byteLength)}` : ''}`
}

function externalText(tensor: TensorProto): string {
  const problem = (text: string) => new FormatError('external-data', text)
  return readable(() => `"${cleanName(externalRange(tensor, problem).location)}"`)
}

function valuesText(proto: TensorProto): string {
  return readable(() => {
    const { dtype, shape, bytes } = tensorFromProto(proto)
    const count = elementCount(shape)
    if (dtype === 'string')
      return `{${decodeStrings(bytes, count)
        .map((text) => cleanName(formatString(text)))
        .join(',')}}`
    return `{${Array.from({ length: count }, (_, i) => formatElement(dtype, bytes, i)).join(',')}}`
  })
}

/** A bad tensor must not hide the rest of the model. */
function readable(text: () => string): string {
  try {
    return text()
  } catch (error) {
    if (error instanceof FormatError || error instanceof SkipCase) return `(${cleanText(error.message)})`
    throw error
  }
}
