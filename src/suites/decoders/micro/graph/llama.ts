import type { DecoderConfig } from '../decoder-config.ts'
import { attend, splitHeads } from './attention.ts'
import { allowedPositions, linear, rmsNorm } from './blocks.ts'
import type { GraphWriter } from './graph-writer.ts'
import { addRotation, type Rotation, rotate } from './rotary.ts'

interface Context {
  readonly config: DecoderConfig
  readonly allowed: string
  readonly rotation: Rotation
}

/** Llama, Mistral and Granite, which differ in sizes, window and multipliers; gives the name of the last hidden state. */
export function llamaNodes(graph: GraphWriter, config: DecoderConfig): string {
  const embedded = graph.add('/model/embed_tokens', 'Gather', [graph.weight('model.embed_tokens.weight'), 'input_ids'])
  const context = { config, allowed: allowedPositions(graph, config), rotation: addRotation(graph, config) }
  let x = multiplied(graph, '/model/embed_tokens', embedded, config.embeddingMultiplier)
  for (let layer = 0; layer < config.layers; layer++) x = decoderLayer(graph, x, layer, context)
  return rmsNorm(graph, '/model/norm', x, 'model.norm.weight', config.epsilon)
}

function decoderLayer(graph: GraphWriter, x: string, layer: number, context: Context): string {
  const { epsilon, residualMultiplier } = context.config
  const module = `model.layers.${layer}`
  const scope = `/model/layers.${layer}`
  const added = (branch: string, residual: string, to: string, label: string) => {
    const scaled = multiplied(graph, `${scope}/${branch}/residual`, residual, residualMultiplier)
    return graph.add(scope, 'Add', [to, scaled], {}, label)
  }
  const before = rmsNorm(graph, `${scope}/input_layernorm`, x, `${module}.input_layernorm.weight`, epsilon)
  const attended = added('self_attn', selfAttention(graph, before, layer, context), x, 'Add')
  const norm = 'post_attention_layernorm'
  const after = rmsNorm(graph, `${scope}/${norm}`, attended, `${module}.${norm}.weight`, epsilon)
  return added('mlp', feedForward(graph, after, layer, context.config), attended, 'Add_1')
}

function selfAttention(graph: GraphWriter, x: string, layer: number, { config, allowed, rotation }: Context): string {
  const { heads, keyValueHeads, headSize, hasAttentionBias } = config
  const [scope, module] = [`/model/layers.${layer}/self_attn`, `model.layers.${layer}.self_attn`]
  const projected = (name: string, count: number) => {
    const flat = linear(graph, `${scope}/${name}`, x, `${module}.${name}`, hasAttentionBias)
    return splitHeads(graph, `${scope}/${name}`, flat, count, headSize)
  }
  const half = headSize / 2
  const query = rotate(graph, `${scope}/rotary_q`, projected('q_proj', heads), rotation, half)
  const key = rotate(graph, `${scope}/rotary_k`, projected('k_proj', keyValueHeads), rotation, half)
  const value = projected('v_proj', keyValueHeads)
  const mixed = attend(graph, scope, { query, key, value }, { layer, allowed, config })
  return linear(graph, `${scope}/o_proj`, mixed, `${module}.o_proj`, hasAttentionBias)
}

function feedForward(graph: GraphWriter, x: string, layer: number, { hasFeedForwardBias }: DecoderConfig): string {
  const [scope, module] = [`/model/layers.${layer}/mlp`, `model.layers.${layer}.mlp`]
  const projected = (name: string, input: string) =>
    linear(graph, `${scope}/${name}`, input, `${module}.${name}`, hasFeedForwardBias)
  const gate = projected('gate_proj', x)
  const sigmoid = graph.add(`${scope}/act_fn`, 'Sigmoid', [gate])
  const active = graph.add(`${scope}/act_fn`, 'Mul', [gate, sigmoid])
  return projected('down_proj', graph.add(scope, 'Mul', [active, projected('up_proj', x)]))
}

function multiplied(graph: GraphWriter, scope: string, x: string, by: number): string {
  return by === 1 ? x : graph.add(scope, 'Mul', [x, graph.number(by)])
}
