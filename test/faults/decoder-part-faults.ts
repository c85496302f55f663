import type { ModelProto } from '../../src/onnx/generated/onnx-ml_pb.ts'
import { AddedNodes, nodeNamed } from '../support/added-nodes.ts'

/** Batches have so many rows. */
const ROWS = 4
const LAYER = '/model/layers.2'
/** Prompts with more padding than this are hit where it is the padding that decides. */
const MUCH_PADDING = 8

/** Faults of an export of a llama that hit a part of the batch, or of the steps, and leave the rest as it is. */
export const PART_FAULTS = {
  /** Logits of rows 2 and 3 times 1 + size. */
  'rows-scale': (proto: ModelProto, size: number) => {
    replaceValue(proto, 'logits', (added, logits) =>
      blend(added, logits, scaled(added, logits, size), rows(added, [2, 3], 3)),
    )
  },
  /** Logits of prompts with much padding times 1 + size. */
  'padded-scale': (proto: ModelProto, size: number) => {
    replaceValue(proto, 'logits', (added, logits) => {
      return blend(added, logits, scaled(added, logits, size), muchPadded(added))
    })
  },
  /** Logits of the first token alone times 1 + size. */
  'prefill-scale': (proto: ModelProto, size: number) => {
    replaceValue(proto, 'logits', (added, logits) => {
      return blend(added, logits, scaled(added, logits, size), atTheStart(added))
    })
  },
  /** Cached keys and values of row 3 rounded to multiples of this part of their largest; 1/7 is int4. */
  'row-cache': (proto: ModelProto, size: number) => {
    for (const node of proto.graph!.node.filter(({ name }) => /\/cache_(key|value)\/Concat$/.test(name))) {
      replaceValue(proto, node.output[0]!, (added, cache) =>
        blend(added, cache, rounded(added, cache, size), rows(added, [3], 4)),
      )
    }
  },
  /** GELU in place of this part of SiLU, in one layer, in rows 2 and 3. */
  'rows-gelu': (proto: ModelProto, size: number) => {
    const { input } = nodeNamed(proto, `${LAYER}/mlp/act_fn/Sigmoid`)
    replaceValue(proto, nodeNamed(proto, `${LAYER}/mlp/act_fn/Mul`).output[0]!, (added, silu) => {
      const part = added.add('Mul', [rows(added, [2, 3], 3), added.number(size)])
      return blend(added, silu, gelu(added, input[0]!), part)
    })
  },
  /** The last rows, so many of them, take the positions of row 0. */
  'row-positions': (proto: ModelProto, size: number) => {
    const node = nodeNamed(proto, '/model/rotary_emb/Cast')
    replaceValue(proto, node.output[0]!, (added, positions) => {
      const hit = Array.from({ length: size }, (_, i) => ROWS - 1 - i)
      return blend(added, positions, added.slice(positions, 0, 1, 0), rows(added, hit, 2))
    })
  },
} as const

/** Everybody who reads a value, and the graph's output of that name, gets another one. */
function replaceValue(proto: ModelProto, name: string, replace: (added: AddedNodes, own: string) => string): void {
  const { node: nodes } = proto.graph!
  const maker = nodes.find(({ output }) => output.includes(name))!
  const own = `${name}/own`
  maker.output = maker.output.map((output) => (output === name ? own : output))
  const added = new AddedNodes(proto, `part_${name}`)
  const made = replace(added, own)
  added.nodes.find(({ output }) => output[0] === made)!.output = [name]
  nodes.splice(nodes.indexOf(maker) + 1, 0, ...added.nodes)
}

/** own + part · (other − own) */
function blend(added: AddedNodes, own: string, other: string, part: string): string {
  const distance = added.add('Sub', [other, own])
  return added.add('Add', [own, added.add('Mul', [distance, part])])
}

function rows(added: AddedNodes, hit: readonly number[], rank: number): string {
  const shape = [ROWS, ...Array.from({ length: rank - 1 }, () => 1)]
  return added.numbers(
    shape,
    Array.from({ length: ROWS }, (_, row) => (hit.includes(row) ? 1 : 0)),
  )
}

function scaled(added: AddedNodes, value: string, size: number): string {
  return added.add('Mul', [value, added.number(1 + size)])
}

/** (batch, 1, 1) */
function muchPadded(added: AddedNodes): string {
  const padded = added.add('Sub', [added.number(1), added.cast('attention_mask', 'float32')])
  const count = added.add('ReduceSum', [padded, added.integers(1)])
  const isMuch = added.add('Greater', [count, added.number(MUCH_PADDING)])
  return added.add('Unsqueeze', [added.cast(isMuch, 'float32'), added.integers(2)])
}

/** 1 where nothing is cached yet. */
function atTheStart(added: AddedNodes): string {
  const isNothing = added.add('Equal', ['/model/mask/past/Sub_output_0', added.integers(0)])
  return added.cast(isNothing, 'float32')
}

/** To multiples of a part of the largest of its head. */
function rounded(added: AddedNodes, value: string, part: number): string {
  const largest = added.add('ReduceMax', [added.add('Abs', [value])], [added.integersAttribute('axes', [2, 3])])
  const step = added.add('Mul', [largest, added.number(part)])
  return added.add('Mul', [added.add('Round', [added.add('Div', [value, step])]), step])
}

/** x · (1 + erf(x / √2)) / 2 */
function gelu(added: AddedNodes, x: string): string {
  const erf = added.add('Erf', [added.add('Mul', [x, added.number(Math.SQRT1_2)])])
  return added.add('Mul', [added.add('Mul', [x, added.number(0.5)]), added.add('Add', [erf, added.number(1)])])
}
