import { findEntry } from '../../domain/entry.ts'
import { remember } from '../../domain/remember.ts'
import type { ModelProto, NodeProto } from '../generated/onnx-ml_pb.ts'
import { type GraphScope, readSize, scopeOfFunction, scopeOfGraph, viewNode } from './graph-scope.ts'
import { findHint, type GraphInput } from './input-hints.ts'
import { type InputFit, type InputUse, type NodeUse, PASSES_ON, ROLES } from './input-roles.ts'

export type { InputUse } from './input-roles.ts'

/** A value that holds what a graph input held, plus `shift`, and the operators it came through. */
interface Carrier {
  readonly scope: GraphScope
  readonly name: string
  readonly shift: number
  readonly via: readonly string[]
}

interface Walk {
  readonly input: GraphInput
  readonly functionOf: (node: NodeProto) => GraphScope | null
  readonly found: InputUse[]
  readonly queue: Carrier[]
  readonly seen: Map<GraphScope, Set<string>>
}

/** Ensures that cyclic graphs terminate. */
const MAX_CARRIERS = 20_000
const WHOLE_TYPES: ReadonlySet<number> = new Set([2, 3, 4, 5, 6, 7, 9, 12, 13, 21, 22, 25, 26])

/** How each graph input is used, according to the operators it reaches, or else its name. */
export function findInputUses(model: ModelProto): Map<string, InputUse> {
  const inputs = graphInputs(model)
  const functionOf = functionFinder(model)
  const root = model.graph ? scopeOfGraph(model.graph) : null
  return new Map(
    inputs.map((input) => {
      const found = root ? collectUses(input, root, functionOf) : []
      return [input.name, decide(input, found, inputs)]
    }),
  )
}

function graphInputs({ graph }: ModelProto): GraphInput[] {
  const initialised = new Set(graph?.initializer.map(({ name }) => name))
  const given = graph?.input.filter(({ name }) => !initialised.has(name)) ?? []
  return given.map(({ name, type }) => {
    const tensor = type?.value.case === 'tensorType' ? type.value.value : null
    const shape = tensor?.shape ? tensor.shape.dim.map(readSize) : null
    return { name, shape, whole: WHOLE_TYPES.has(tensor?.elemType ?? 0) }
  })
}

function functionFinder(model: ModelProto): Walk['functionOf'] {
  const named = new Map(model.functions.map((body) => [`${body.domain}.${body.name}.${body.overload}`, body]))
  const scopes = new Map<string, GraphScope>()
  return ({ domain, opType, overload }) => {
    const key = `${domain}.${opType}.${overload}`
    const body = named.get(key)
    return body ? remember(scopes, key, () => scopeOfFunction(body)) : null
  }
}

function collectUses(input: GraphInput, root: GraphScope, functionOf: Walk['functionOf']): InputUse[] {
  const walk: Walk = { input, functionOf, found: [], queue: [], seen: new Map() }
  carry(walk, { scope: root, name: input.name, shift: 0, via: [] })
  for (let i = 0; i < walk.queue.length && i < MAX_CARRIERS; i++) follow(walk, walk.queue[i]!)
  return walk.found
}

function carry(walk: Walk, carrier: Carrier): void {
  const seen = remember(walk.seen, carrier.scope, () => new Set())
  const key = `${carrier.shift} ${carrier.name}`
  if (carrier.name === '' || seen.has(key)) return
  seen.add(key)
  walk.queue.push(carrier)
}

function follow(walk: Walk, carrier: Carrier): void {
  const { scope, name } = carrier
  for (const { node, position } of scope.consumers.get(name) ?? []) visit(walk, carrier, node, position)
  for (const body of scope.bodies) {
    if (!body.owns.has(name)) carry(walk, { ...carrier, scope: body })
  }
  leaveBranch(walk, carrier)
}

/** A branch's output becomes the If's output. */
function leaveBranch(walk: Walk, carrier: Carrier): void {
  const owner = carrier.scope.owner
  const at = carrier.scope.outputs.indexOf(carrier.name)
  if (owner?.node.opType !== 'If' || at < 0) return
  carry(walk, { ...carrier, scope: owner.scope, name: owner.node.output[at] ?? '' })
}

function visit(walk: Walk, carrier: Carrier, node: NodeProto, position: number): void {
  const site = viewNode(carrier.scope, node)
  const role = (findEntry(ROLES, `${node.domain}.${node.opType}`) ?? findEntry(ROLES, node.opType))?.[position]
  if (role) walk.found.push(explain(shifted(role(site), carrier.shift), carrier, node, position))
  visitControlFlow(walk, carrier, node, position)
  visitPassing(walk, carrier, node, position)
  visitArithmetic(walk, carrier, site, position)
  const body = walk.functionOf(node)
  if (body) carry(walk, { ...through(carrier, node.opType), scope: body, name: body.inputs[position] ?? '' })
}

function visitPassing(walk: Walk, carrier: Carrier, { opType, output }: NodeProto, position: number): void {
  const passes = findEntry(PASSES_ON, opType)
  if (passes !== 'all' && !(passes === 'first' && position === 0)) return
  const outputs = opType === 'Split' ? output : output.slice(0, 1)
  for (const name of outputs) carry(walk, { ...through(carrier, opType), name })
}

function visitControlFlow(walk: Walk, carrier: Carrier, node: NodeProto, position: number): void {
  const found = (fit: InputFit) => walk.found.push(explain(fit, carrier, node, position))
  if (node.opType === 'If') found({ kind: 'condition', value: !/cache|past/i.test(walk.input.name) })
  if (node.opType === 'Loop' && position === 0) found({ kind: 'fixed', each: 3 })
  if (node.opType === 'Loop' && position === 1) found({ kind: 'condition', value: true })
  if (node.opType !== 'Scan' && !(node.opType === 'Loop' && position > 1)) return
  for (const body of carrier.scope.bodies.filter(({ owner }) => owner?.node === node)) {
    carry(walk, { ...through(carrier, node.opType), scope: body, name: body.inputs[position] ?? '' })
  }
}

/** ids + 2 into a table of 514 rows: the ids must stay below 512. And masks are turned round as 1 − x. */
function visitArithmetic(walk: Walk, carrier: Carrier, site: NodeUse, position: number): void {
  const { node } = site
  const constant = position > 1 ? null : site.scalarOf(1 - position)
  if (constant === null || !walk.input.whole) return
  if (node.opType === 'Sub' && position === 1 && constant === 1) {
    walk.found.push(explain({ kind: 'mask' }, carrier, node, position))
  }
  const added = node.opType === 'Add' ? constant : node.opType === 'Sub' && position === 0 ? -constant : null
  if (added === null) return
  carry(walk, { ...through(carrier, node.opType), name: node.output[0] ?? '', shift: carrier.shift + added })
}

function through(carrier: Carrier, opType: string): Carrier {
  return { ...carrier, via: [...carrier.via, opType].slice(-3) }
}

function shifted(fit: InputFit, shift: number): InputFit {
  if (fit.kind !== 'index' || shift === 0) return fit
  const low = Math.max(0, fit.low - shift)
  const high = fit.high === null ? null : Math.max(low, fit.high - shift)
  return { kind: 'index', low, high }
}

function explain(fit: InputFit, { via }: Carrier, node: NodeProto, position: number): InputUse {
  const path = via.length > 0 ? ` through ${via.join(', ')}` : ''
  return { ...fit, because: `input ${position} of ${node.opType}${node.name ? ` "${node.name}"` : ''}${path}` }
}

/** Requirements rank before mere preferences. */
const RANK: readonly InputFit['kind'][] = [
  'fixed',
  'length',
  'parts',
  'extent',
  'condition',
  'zero-point',
  'index',
  'mask',
  'quantised',
  'nonzero',
  'range',
]

function decide(input: GraphInput, found: readonly InputUse[], inputs: readonly GraphInput[]): InputUse {
  const hint = findHint(input, inputs)
  const index = narrowest(found)
  if (hint?.kind === 'positions') return index?.kind === 'index' ? { ...hint, high: index.high } : hint
  if (hint?.kind === 'mask') return hint
  for (const kind of RANK) {
    const use = kind === 'index' ? index : found.find((one) => one.kind === kind)
    if (use) return use
  }
  return hint ?? { kind: 'plain', because: 'no operator that it reaches needs particular values' }
}

/** Indices must fit every table they are used on. */
function narrowest(found: readonly InputUse[]): InputUse | undefined {
  const indices = found.filter((use) => use.kind === 'index')
  const low = Math.max(...indices.map((use) => use.low))
  const sizeOf = (use: { high: number | null }) => use.high ?? Number.POSITIVE_INFINITY
  const tightest = indices.sort((a, b) => sizeOf(a) - sizeOf(b))[0]
  return tightest && { ...tightest, low }
}
