import { DTYPES } from '../../../../domain/dtype.ts'
import type { DecoderConfig } from '../decoder-config.ts'
import type { GraphDType, GraphWriter } from './graph-writer.ts'

export function cast(
  graph: GraphWriter,
  scope: string,
  value: string,
  to: GraphDType | 'bool',
  label = 'Cast',
): string {
  return graph.add(scope, 'Cast', [value], { to: BigInt(DTYPES[to].onnx) }, label)
}

/** `x · weightᵀ`, and its bias where it has one. */
export function linear(graph: GraphWriter, scope: string, x: string, module: string, hasBias: boolean): string {
  const product = graph.add(scope, 'MatMul', [x, graph.transposedWeight(`${module}.weight`)])
  return hasBias ? graph.add(scope, 'Add', [product, graph.weight(`${module}.bias`)]) : product
}

/** In float32 whatever the graph computes in, as transformers does it: squares leave float16's range. */
export function rmsNorm(graph: GraphWriter, scope: string, x: string, weight: string, epsilon: number): string {
  const isHalf = graph.dtype === 'float16'
  const wide = isHalf ? cast(graph, scope, x, 'float32') : x
  const square = graph.add(scope, 'Pow', [wide, graph.number(2, 'float32')])
  const mean = graph.add(scope, 'ReduceMean', [square], { axes: [-1n], keepdims: 1n })
  const safe = graph.add(scope, 'Add', [mean, graph.number(epsilon, 'float32')])
  const root = graph.add(scope, 'Sqrt', [safe])
  const scaled = graph.add(scope, 'Div', [wide, root])
  const normal = isHalf ? cast(graph, scope, scaled, 'float16', 'Cast_1') : scaled
  return graph.add(scope, 'Mul', [normal, graph.weight(weight)])
}

export function layerNorm(graph: GraphWriter, scope: string, x: string, module: string, epsilon: number): string {
  const inputs = [x, graph.weight(`${module}.weight`), graph.weight(`${module}.bias`)]
  return graph.add(scope, 'LayerNormalization', inputs, { axis: -1n, epsilon })
}

/** (batch, 1, sequence, total): whether a position may look at another: not at padding, not ahead, not beyond the window. */
export function allowedPositions(graph: GraphWriter, { slidingWindow }: DecoderConfig): string {
  const scope = '/model/mask'
  const size = (value: string) => {
    const shape = graph.add(`${scope}/${value}`, 'Shape', [value])
    return graph.add(`${scope}/${value}`, 'Gather', [shape, graph.integer(1)], { axis: 0n })
  }
  const total = size('attention_mask')
  const past = graph.add(`${scope}/past`, 'Sub', [total, size('input_ids')])
  const keys = graph.add(`${scope}/keys`, 'Range', [graph.integer(0), total, graph.integer(1)])
  const counted = graph.add(`${scope}/queries`, 'Range', [past, total, graph.integer(1)])
  const queries = graph.add(`${scope}/queries`, 'Unsqueeze', [counted, graph.integers(1)]) // (sequence, 1)
  const causal = graph.add(scope, 'LessOrEqual', [keys, queries]) // (sequence, total)
  const seen = slidingWindow === null ? causal : insideWindow(graph, scope, { keys, queries, causal, slidingWindow })
  const real = cast(graph, `${scope}/padding`, 'attention_mask', 'bool')
  const columns = graph.add(`${scope}/padding`, 'Unsqueeze', [real, graph.integers(1, 2)]) // (batch, 1, 1, total)
  return graph.add(scope, 'And', [seen, columns])
}

interface Band {
  readonly keys: string
  readonly queries: string
  readonly causal: string
  readonly slidingWindow: number
}

function insideWindow(graph: GraphWriter, scope: string, { keys, queries, causal, slidingWindow }: Band): string {
  const border = graph.add(`${scope}/window`, 'Sub', [queries, graph.integer(slidingWindow)])
  const near = graph.add(`${scope}/window`, 'Greater', [keys, border])
  return graph.add(`${scope}/window`, 'And', [causal, near])
}
