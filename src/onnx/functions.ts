import { FormatError } from '../domain/errors.ts'
import type { ModelProto, NodeProto } from './generated/onnx-ml_pb.ts'
import { listGraphs, normaliseDomain } from './walk.ts'
import { MAX_NODES } from './wire.ts'

const MAX_CALL_DEPTH = 100

/** Refuses recursive functions, and models that are too large once functions are inlined. */
export function checkFunctions(proto: ModelProto, what: string): void {
  const bodies = new Map(proto.functions.map((fn) => [keyOf(fn.name, fn), tally(fn.node)]))
  const sizes = new Map<string, number>()
  // Each round settles at least the functions one call deeper than the last.
  for (let depth = 0; depth < MAX_CALL_DEPTH && sizes.size < bodies.size; depth++) {
    for (const [key, body] of bodies) {
      const size = sizes.has(key) ? null : expandedSize(body, bodies, sizes)
      if (size !== null) sizes.set(key, size)
    }
  }
  if (sizes.size < bodies.size)
    throw cyclic(
      [...bodies.keys()].filter((key) => !sizes.has(key)),
      what,
    )
  checkSize(expandedSize(tally(proto.graph?.node ?? []), bodies, sizes) ?? 0, what)
}

function cyclic(keys: readonly string[], what: string): FormatError {
  const text = `${what} has functions that call themselves, or each other ${MAX_CALL_DEPTH} deep (${keys.slice(0, 3).join(', ')})`
  return new FormatError('cyclic-functions', `${text}; export it again without them`)
}

function checkSize(nodes: number, what: string): void {
  if (nodes <= MAX_NODES) return
  const text = `${what} has ${nodes} nodes once its functions are inlined, at most ${MAX_NODES} are read; split the model`
  throw new FormatError('too-many-nodes', text)
}

interface Body {
  nodes: number
  readonly calls: Map<string, number>
}

function tally(nodes: readonly NodeProto[], body: Body = { nodes: 0, calls: new Map() }): Body {
  for (const node of nodes) {
    body.nodes++
    const key = keyOf(node.opType, node)
    body.calls.set(key, (body.calls.get(key) ?? 0) + 1)
    for (const graph of node.attribute.flatMap(listGraphs)) tally(graph.node, body)
  }
  return body
}

/** null if a called function's size is not known yet. */
function expandedSize(
  body: Body,
  bodies: ReadonlyMap<string, Body>,
  sizes: ReadonlyMap<string, number>,
): number | null {
  let total = body.nodes
  for (const [key, count] of body.calls) {
    if (!bodies.has(key)) continue
    const size = sizes.get(key)
    if (size === undefined) return null
    total += size * count
  }
  return total
}

function keyOf(name: string, place: { readonly domain: string; readonly overload: string }): string {
  return `${normaliseDomain(place)}.${name}${place.overload ? `:${place.overload}` : ''}`
}
