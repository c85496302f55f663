import type { Tensor } from '../../src/domain/tensor.ts'
import { buildModel, type GraphParts, type ModelParts, type NodeParts } from '../../src/onnx/builder.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { floats } from './capture.ts'

export const VOCABULARY = 40
const [HIDDEN, HEADS, HEAD_SIZE, LONGEST, LAYERS] = [8, 2, 4, 64, 2]

export interface DecoderForm {
  /** How what is cached goes in: not at all, as inputs, or with a switch between both. */
  readonly cache?: 'none' | 'past' | 'merged'
  /** false: positions are counted from the mask. */
  readonly positions?: boolean
  /** Names of what is cached, for a layer and `key` or `value`. */
  readonly pastName?: (layer: number, part: string) => string
  readonly presentName?: (layer: number, part: string) => string
  /** Its last nodes, from `hidden` (batch, positions, hidden) to `logits`. */
  readonly head?: (nodes: NodeParts[]) => void
  readonly dtype?: 'float32' | 'float16'
  /** An input that nobody knows. */
  readonly extra?: string
}

/** A decoder of two layers of attention with learned positions, small and the same every time. */
export function tinyDecoder(form: DecoderForm = {}): Uint8Array {
  const { cache = 'past', positions = true, extra, dtype = 'float32' } = form
  const text = ['batch', 'sequence']
  const inputs = [
    { name: 'input_ids', dtype: 'int64', shape: text },
    { name: 'attention_mask', dtype: 'int64', shape: ['batch', 'total'] },
    ...(positions ? [{ name: 'position_ids', dtype: 'int64', shape: text } as const] : []),
    ...(extra ? [{ name: extra, dtype: 'int64', shape: text } as const] : []),
    ...(cache === 'none' ? [] : parts(form).map(({ past }) => ({ name: past, dtype, shape: CACHE('past') }))),
    ...(cache === 'merged' ? [{ name: 'use_cache_branch', dtype: 'bool', shape: [1] } as const] : []),
  ] satisfies ModelParts['inputs']
  const outputs = [
    { name: 'logits', dtype, shape: ['batch', 'sequence', VOCABULARY] },
    ...parts(form).map(({ present }) => ({ name: present, dtype, shape: CACHE('total') })),
  ]
  const nodes = cache === 'merged' ? [merged(form, outputs)] : network(form, cache === 'past')
  return buildModel({ inputs, outputs, nodes, initializers: weights(dtype) })
}

const CACHE = (length: string) => ['batch', HEADS, length, HEAD_SIZE]

function parts({ pastName, presentName }: DecoderForm) {
  const past = pastName ?? ((layer, part) => `past_key_values.${layer}.${part}`)
  const present = presentName ?? ((layer, part) => `present.${layer}.${part}`)
  return Array.from({ length: LAYERS }, (_, layer) =>
    ['key', 'value'].map((part) => ({ layer, part, past: past(layer, part), present: present(layer, part) })),
  ).flat()
}

function merged(form: DecoderForm, outputs: GraphParts['outputs']): NodeParts {
  const branch = (prefix: string, hasPast: boolean): GraphParts => {
    const inside = (name: string) => `${prefix}${name}`
    const own = new Set(network(form, hasPast).flatMap((node) => node.outputs))
    const rename = (name: string) => (own.has(name) ? inside(name) : name)
    const nodes = network(form, hasPast).map((node) => ({
      ...node,
      inputs: (node.inputs ?? []).map(rename),
      outputs: node.outputs.map(rename),
    }))
    return { name: prefix, nodes, outputs: outputs.map((output) => ({ ...output, name: inside(output.name) })) }
  }
  const attributes = { then_branch: branch('with/', true), else_branch: branch('without/', false) }
  return { op: 'If', inputs: ['use_cache_branch'], outputs: outputs.map(({ name }) => name), attributes }
}

function network(form: DecoderForm, hasPast: boolean): NodeParts[] {
  const nodes: NodeParts[] = []
  const add = (op: string, inputs: string[], output: string, attributes: NodeParts['attributes'] = {}): string => {
    nodes.push({ op, inputs, outputs: [output], attributes, name: `/${output}` })
    return output
  }
  add('Shape', ['attention_mask'], 'mask_shape')
  add('Gather', ['mask_shape', 'one'], 'total')
  add('Shape', ['input_ids'], 'ids_shape')
  add('Gather', ['ids_shape', 'one'], 'length')
  add('Sub', ['total', 'length'], 'begin')
  add('Range', ['zero', 'total', 'one'], 'key_places')
  add('Range', ['begin', 'total', 'one'], 'query_places')
  add('Unsqueeze', ['query_places', 'axis1'], 'query_column')
  add('LessOrEqual', ['key_places', 'query_column'], 'causal')
  add('Cast', ['attention_mask'], 'real', { to: 9n })
  add('Unsqueeze', ['real', 'axes12'], 'real_keys')
  add('And', ['causal', 'real_keys'], 'seen')
  const positions = form.positions === false ? countPositions(add) : 'position_ids'
  add('Gather', ['embedding', 'input_ids'], 'words')
  add('Gather', ['places', positions], 'placed')
  let x = add('Add', ['words', 'placed'], 'x0')
  for (let layer = 0; layer < LAYERS; layer++) x = attention(add, form, layer, x, hasPast)
  add('Identity', [x], 'hidden')
  if (form.head) form.head(nodes)
  else add('MatMul', ['hidden', 'head'], 'logits')
  return nodes
}

type Add = (op: string, inputs: string[], output: string, attributes?: NodeParts['attributes']) => string

function countPositions(add: Add): string {
  add('CumSum', ['attention_mask', 'one'], 'counted')
  add('Sub', ['counted', 'one'], 'from_zero')
  add('Max', ['from_zero', 'zero'], 'all_places')
  add('Unsqueeze', ['begin', 'axis0'], 'begins')
  add('Unsqueeze', ['total', 'axis0'], 'ends')
  return add('Slice', ['all_places', 'begins', 'ends', 'axis1'], 'own_places')
}

function attention(add: Add, form: DecoderForm, layer: number, x: string, hasPast: boolean): string {
  const name = (what: string) => `${what}_${layer}`
  const heads = (what: string) => {
    add('MatMul', [x, name(`w${what}`)], name(`${what}_flat`))
    add('Reshape', [name(`${what}_flat`), 'split'], name(`${what}_split`))
    return add('Transpose', [name(`${what}_split`)], name(`${what}_new`), { perm: [0n, 2n, 1n, 3n] })
  }
  const [q, k, v] = [heads('q'), heads('k'), heads('v')]
  const [keys, values] = parts(form)
    .filter((part) => part.layer === layer)
    .map(({ part, past, present }) => {
      const made = part === 'key' ? k : v
      return hasPast ? add('Concat', [past, made], present, { axis: 2n }) : add('Identity', [made], present)
    })
  add('Transpose', [keys!], name('turned'), { perm: [0n, 1n, 3n, 2n] })
  add('MatMul', [q, name('turned')], name('scores'))
  add('Where', ['seen', name('scores'), 'never'], name('masked'))
  add('Softmax', [name('masked')], name('shares'), { axis: -1n })
  add('MatMul', [name('shares'), values!], name('mixed'))
  add('Transpose', [name('mixed')], name('mixed_turned'), { perm: [0n, 2n, 1n, 3n] })
  add('Reshape', [name('mixed_turned'), 'join'], name('joined'))
  add('MatMul', [name('joined'), name('wo')], name('given'))
  return add('Add', [x, name('given')], name('x_after'))
}

/** Numbers in (−1, 1), the same every time. */
function numbers(count: number, seed: number): number[] {
  return Array.from({ length: count }, (_, i) =>
    Math.fround((Math.sin((i + 1) * 12.9898 + seed * 78.233) * 43758.5453) % 1),
  )
}

function codes(count: number): Uint8Array {
  return Uint8Array.from(numbers(count, 105), (value) => Math.round(8 * (value + 1)))
}

function weights(dtype: 'float32' | 'float16'): Record<string, Tensor> {
  const real = (shape: readonly number[], seed: number): Tensor => {
    const values = numbers(
      shape.reduce((a, b) => a * b, 1),
      seed,
    )
    return { dtype, shape, bytes: encodeNumbers(dtype, values) }
  }
  const whole = (values: readonly number[], shape = [values.length]): Tensor => {
    return { dtype: 'int64', shape, bytes: encodeNumbers('int64', values) }
  }
  const layers = Array.from({ length: LAYERS }, (_, layer) =>
    ['wq', 'wk', 'wv', 'wo'].map((name, i) => [`${name}_${layer}`, real([HIDDEN, HIDDEN], 10 * layer + i)] as const),
  ).flat()
  return {
    embedding: real([VOCABULARY, HIDDEN], 101),
    places: real([LONGEST, HIDDEN], 102),
    head: real([HIDDEN, VOCABULARY], 103),
    head_codes: { dtype: 'uint8', shape: [HIDDEN, VOCABULARY], bytes: codes(HIDDEN * VOCABULARY) },
    bias: real([VOCABULARY], 104),
    never: { dtype, shape: [], bytes: encodeNumbers(dtype, [-30000]) },
    zero: whole([0], []),
    one: whole([1], []),
    axis0: whole([0]),
    axis1: whole([1]),
    axes12: whole([1, 2]),
    split: whole([0, 0, HEADS, HEAD_SIZE]),
    join: whole([0, 0, HIDDEN]),
    ...Object.fromEntries(layers),
  }
}

/** Gives for every token the row of a table. */
export function tableDecoder(rows: readonly (readonly number[])[]): Uint8Array {
  return buildModel({
    inputs: [{ name: 'input_ids', dtype: 'int64', shape: ['batch', 'sequence'] }],
    outputs: [{ name: 'logits', dtype: 'float32', shape: ['batch', 'sequence', rows[0]!.length] }],
    nodes: [{ op: 'Gather', inputs: ['table', 'input_ids'], outputs: ['logits'] }],
    initializers: { table: floats(rows.flat(), [rows.length, rows[0]!.length]) },
  })
}
