import { toBinary } from '@bufbuild/protobuf'
import { type AttributeProto, AttributeProtoSchema, type NodeProto } from '../generated/onnx-ml_pb.ts'
import { listGraphs } from '../walk.ts'

/** Equal inputs do not give equal results. */
const RANDOM = /^(Random|Bernoulli|Multinomial|Dropout)/

/** Groups of nodes that do the same with the same values; nodes are in the order of their graph. */
export function equalNodes(nodes: readonly NodeProto[]): NodeProto[][] {
  const groups = new Map<string, [NodeProto, ...NodeProto[]]>()
  const same = new Map<string, string>()
  for (const node of nodes) {
    if (RANDOM.test(node.opType) || node.attribute.some((attribute) => listGraphs(attribute).length > 0)) continue
    const key = keyOf(node, same)
    const group = groups.get(key)
    if (!group) groups.set(key, [node])
    else {
      group.push(node)
      node.output.forEach((name, i) => void same.set(name, group[0].output[i] ?? name))
    }
  }
  return [...groups.values()].filter(({ length }) => length > 1)
}

function keyOf(node: NodeProto, same: ReadonlyMap<string, string>): string {
  const { domain, opType, overload, input, output } = node
  const attributes = [...node.attribute].sort((a, b) => (a.name < b.name ? -1 : 1)).map(bytesText)
  return JSON.stringify([
    domain,
    opType,
    overload,
    input.map((name) => same.get(name) ?? name),
    output.length,
    attributes,
  ])
}

function bytesText(attribute: AttributeProto): string {
  return Buffer.from(toBinary(AttributeProtoSchema, { ...attribute, docString: '' })).toString('latin1')
}
