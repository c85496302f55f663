import type { ModelParts } from '../../../../onnx/builder.ts'
import type { DecoderConfig } from '../decoder-config.ts'
import { cast } from './blocks.ts'
import { gpt2Nodes } from './gpt2.ts'
import { type GraphDType, GraphWriter, type WeightUse } from './graph-writer.ts'
import { llamaNodes } from './llama.ts'

const OPSET = 17
/** As optimum calls it. */
const TOTAL = 'past_sequence_length + sequence_length'

/** A decoder's graph without its weights, and which it takes. */
export interface DecoderGraph {
  readonly parts: ModelParts
  readonly weights: readonly WeightUse[]
}

/** One step of a decoder with a key-value cache, with the inputs and outputs that optimum and transformers.js have. */
export function decoderGraph(config: DecoderConfig, dtype: GraphDType): DecoderGraph {
  const graph = new GraphWriter(dtype)
  const last = config.family === 'gpt2' ? gpt2Nodes(graph, config) : llamaNodes(graph, config)
  addHead(graph, last, config)
  const parts = {
    name: config.family,
    opset: OPSET,
    nodes: graph.nodes,
    inputs: [...promptInputs(), ...cacheValues('past_key_values', 'past_sequence_length', config, dtype)],
    outputs: [
      { name: 'logits', dtype: 'float32', shape: ['batch_size', 'sequence_length', config.vocabulary] } as const,
      ...cacheValues('present', TOTAL, config, dtype),
    ],
    initializers: Object.fromEntries(graph.constants),
  }
  return { parts, weights: [...graph.weights.values()] }
}

/** Logits are float32 whatever the graph computes in: not every caller can read halves. */
function addHead(graph: GraphWriter, last: string, config: DecoderConfig): void {
  const scope = '/lm_head'
  const products = graph.add(scope, 'MatMul', [last, headWeight(graph, scope, config)])
  const { logitsScaling } = config
  const scaled = logitsScaling === 1 ? products : graph.add(scope, 'Div', [products, graph.number(logitsScaling)])
  const wide = graph.dtype === 'float16' ? cast(graph, scope, scaled, 'float32') : scaled
  const output = graph.nodes.at(-1)!
  graph.nodes[graph.nodes.length - 1] = {
    ...output,
    outputs: output.outputs.map((name) => (name === wide ? 'logits' : name)),
  }
}

function headWeight(graph: GraphWriter, scope: string, { family, isTied }: DecoderConfig): string {
  if (!isTied) return graph.transposedWeight('lm_head.weight')
  const embedding = family === 'gpt2' ? 'transformer.wte.weight' : 'model.embed_tokens.weight'
  return graph.add(scope, 'Transpose', [graph.weight(embedding)], { perm: [1n, 0n] })
}

function promptInputs() {
  const value = (name: string, length: string) => ({ name, dtype: 'int64', shape: ['batch_size', length] }) as const
  return [
    value('input_ids', 'sequence_length'),
    value('attention_mask', TOTAL),
    value('position_ids', 'sequence_length'),
  ]
}

function cacheValues(prefix: string, length: string, config: DecoderConfig, dtype: GraphDType) {
  const shape = ['batch_size', config.keyValueHeads, length, config.headSize]
  return Array.from({ length: config.layers }, (_, i) =>
    ['key', 'value'].map((which) => ({ name: `${prefix}.${i}.${which}`, dtype, shape })),
  ).flat()
}
