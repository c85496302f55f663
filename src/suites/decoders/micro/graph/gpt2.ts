import type { DecoderConfig } from '../decoder-config.ts'
import { attend, splitHeads } from './attention.ts'
import { allowedPositions, layerNorm } from './blocks.ts'
import type { GraphWriter } from './graph-writer.ts'

/** GPT-2: learnt positions and the approximate GELU; gives the name of the last hidden state. */
export function gpt2Nodes(graph: GraphWriter, config: DecoderConfig): string {
  const scope = '/transformer'
  const tokens = graph.add(`${scope}/wte`, 'Gather', [graph.weight('transformer.wte.weight'), 'input_ids'])
  const places = graph.add(`${scope}/wpe`, 'Gather', [graph.weight('transformer.wpe.weight'), 'position_ids'])
  const allowed = allowedPositions(graph, config)
  let x = graph.add(scope, 'Add', [tokens, places])
  for (let layer = 0; layer < config.layers; layer++) x = block(graph, x, layer, config, allowed)
  return layerNorm(graph, `${scope}/ln_f`, x, 'transformer.ln_f', config.epsilon)
}

function block(graph: GraphWriter, x: string, layer: number, config: DecoderConfig, allowed: string): string {
  const [scope, module] = [`/transformer/h.${layer}`, `transformer.h.${layer}`]
  const before = layerNorm(graph, `${scope}/ln_1`, x, `${module}.ln_1`, config.epsilon)
  const mixed = attend(graph, `${scope}/attn`, headsOf(graph, before, layer, config), { layer, allowed, config })
  const attended = graph.add(scope, 'Add', [
    x,
    convolution(graph, `${scope}/attn/c_proj`, mixed, `${module}.attn.c_proj`),
  ])
  const after = layerNorm(graph, `${scope}/ln_2`, attended, `${module}.ln_2`, config.epsilon)
  const wide = convolution(graph, `${scope}/mlp/c_fc`, after, `${module}.mlp.c_fc`)
  const active = approximateGelu(graph, `${scope}/mlp/act`, wide)
  const narrow = convolution(graph, `${scope}/mlp/c_proj`, active, `${module}.mlp.c_proj`)
  return graph.add(scope, 'Add', [attended, narrow], {}, 'Add_1')
}

function headsOf(graph: GraphWriter, x: string, layer: number, { heads, headSize, hidden }: DecoderConfig) {
  const scope = `/transformer/h.${layer}/attn`
  const joined = convolution(graph, `${scope}/c_attn`, x, `transformer.h.${layer}.attn.c_attn`)
  const outputs = [0, 1, 2].map((i) => `${scope}/Split_output_${i}`)
  graph.addNamed(`${scope}/Split`, 'Split', [joined, graph.integers(hidden, hidden, hidden)], outputs, { axis: -1n })
  const [query, key, value] = ['query', 'key', 'value'].map((name, i) =>
    splitHeads(graph, `${scope}/${name}`, outputs[i]!, heads, headSize),
  )
  return { query: query!, key: key!, value: value! }
}

/** GPT-2 keeps weights as (in, out). */
function convolution(graph: GraphWriter, scope: string, x: string, module: string): string {
  const product = graph.add(scope, 'MatMul', [x, graph.weight(`${module}.weight`)])
  return graph.add(scope, 'Add', [product, graph.weight(`${module}.bias`)])
}

/** 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) */
function approximateGelu(graph: GraphWriter, scope: string, x: string): string {
  const cube = graph.add(scope, 'Pow', [x, graph.number(3)])
  const small = graph.add(scope, 'Mul', [cube, graph.number(0.044715)])
  const sum = graph.add(scope, 'Add', [x, small])
  const inner = graph.add(scope, 'Mul', [sum, graph.number(Math.sqrt(2 / Math.PI))], {}, 'Mul_1')
  const bent = graph.add(scope, 'Tanh', [inner])
  const share = graph.add(scope, 'Add', [bent, graph.number(1)], {}, 'Add_1')
  const half = graph.add(scope, 'Mul', [x, graph.number(0.5)], {}, 'Mul_2')
  return graph.add(scope, 'Mul', [half, share], {}, 'Mul_3')
}
