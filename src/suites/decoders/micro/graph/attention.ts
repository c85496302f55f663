import type { DecoderConfig } from '../decoder-config.ts'
import { cast } from './blocks.ts'
import type { GraphWriter } from './graph-writer.ts'

/** All of them (batch, heads, sequence, head size). */
interface Heads {
  readonly query: string
  readonly key: string
  readonly value: string
}

const LOWEST = -3.4028234663852886e38

/** (batch, sequence, heads · size) → (batch, heads, sequence, size) */
export function splitHeads(graph: GraphWriter, scope: string, x: string, heads: number, size: number): string {
  const parts = graph.add(scope, 'Reshape', [x, graph.integers(0, 0, heads, size)])
  return graph.add(scope, 'Transpose', [parts], { perm: [0n, 2n, 1n, 3n] })
}

/** Attention over what is cached and what is new; gives (batch, sequence, heads · size) and the new cache as outputs. */
export function attend(
  graph: GraphWriter,
  scope: string,
  { query, key, value }: Heads,
  { layer, allowed, config }: { layer: number; allowed: string; config: DecoderConfig },
): string {
  const { heads, headSize } = config
  const keys = repeatHeads(graph, `${scope}/keys`, cached(graph, scope, layer, 'key', key), config)
  const values = repeatHeads(graph, `${scope}/values`, cached(graph, scope, layer, 'value', value), config)
  const turned = graph.add(`${scope}/keys`, 'Transpose', [keys], { perm: [0n, 1n, 3n, 2n] })
  const products = graph.add(scope, 'MatMul', [query, turned]) // (batch, heads, sequence, total)
  const scores = graph.add(scope, 'Mul', [products, graph.number(config.attentionMultiplier)])
  const weights = softmax(graph, scope, scores, allowed)
  const mixed = graph.add(scope, 'MatMul', [weights, values], {}, 'MatMul_1')
  const rows = graph.add(scope, 'Transpose', [mixed], { perm: [0n, 2n, 1n, 3n] })
  return graph.add(scope, 'Reshape', [rows, graph.integers(0, 0, heads * headSize)])
}

function cached(graph: GraphWriter, scope: string, layer: number, which: 'key' | 'value', fresh: string): string {
  const present = `present.${layer}.${which}`
  const inputs = [`past_key_values.${layer}.${which}`, fresh]
  graph.addNamed(`${scope}/cache_${which}/Concat`, 'Concat', inputs, [present], { axis: 2n })
  return present
}

/** Several heads share keys and values. */
function repeatHeads(graph: GraphWriter, scope: string, x: string, config: DecoderConfig): string {
  const { heads, keyValueHeads, headSize } = config
  if (heads === keyValueHeads) return x
  const apart = graph.add(scope, 'Unsqueeze', [x, graph.integers(2)])
  const repeated = graph.add(scope, 'Expand', [apart, graph.integers(1, 1, heads / keyValueHeads, 1, 1)])
  return graph.add(scope, 'Reshape', [repeated, graph.integers(0, heads, -1, headSize)])
}

/** In float32. What may not be seen gets the lowest number and not −∞: a padding's own row would be NaN, and stay in the cache. */
function softmax(graph: GraphWriter, scope: string, scores: string, allowed: string): string {
  const isHalf = graph.dtype === 'float16'
  const wide = isHalf ? cast(graph, scope, scores, 'float32') : scores
  const masked = graph.add(scope, 'Where', [allowed, wide, graph.number(LOWEST, 'float32')])
  const weights = graph.add(scope, 'Softmax', [masked], { axis: -1n })
  return isHalf ? cast(graph, scope, weights, 'float16', 'Cast_1') : weights
}
