import type { DecoderConfig } from '../decoder-config.ts'
import { cast } from './blocks.ts'
import type { GraphWriter } from './graph-writer.ts'

/** (batch, 1, sequence, head size) each, computed in float32. */
export interface Rotation {
  readonly cosine: string
  readonly sine: string
}

export function addRotation(graph: GraphWriter, config: DecoderConfig): Rotation {
  const scope = '/model/rotary_emb'
  const frequencies = inverseFrequencies(config)
  const constant = graph.constant('model.rotary_emb.inv_freq', 'float32', [frequencies.length], frequencies)
  const positions = cast(graph, scope, 'position_ids', 'float32')
  const column = graph.add(scope, 'Unsqueeze', [positions, graph.integers(1, 3)]) // (batch, 1, sequence, 1)
  const half = graph.add(scope, 'Mul', [column, constant])
  const angles = graph.add(scope, 'Concat', [half, half], { axis: -1n })
  const [cosine, sine] = ['Cos', 'Sin'].map((op) => {
    const value = graph.add(scope, op, [angles])
    return graph.dtype === 'float16' ? cast(graph, scope, value, 'float16', `${op}_Cast`) : value
  })
  return { cosine: cosine!, sine: sine! }
}

/** Rounded to float32 where PyTorch rounds. */
function inverseFrequencies({ headSize, ropeTheta }: DecoderConfig): number[] {
  return Array.from({ length: headSize / 2 }, (_, i) => {
    const power = Math.fround(ropeTheta ** Math.fround((2 * i) / headSize))
    return Math.fround(1 / power)
  })
}

/** Turns the two halves of every head, not neighbours, as transformers does. */
export function rotate(graph: GraphWriter, scope: string, x: string, { cosine, sine }: Rotation, half: number): string {
  const [first, second] = [`${scope}/Split_output_0`, `${scope}/Split_output_1`]
  graph.addNamed(`${scope}/Split`, 'Split', [x, graph.integers(half, half)], [first, second], { axis: -1n })
  const negated = graph.add(scope, 'Neg', [second])
  const turned = graph.add(scope, 'Concat', [negated, first], { axis: -1n })
  const along = graph.add(scope, 'Mul', [x, cosine])
  const across = graph.add(scope, 'Mul', [turned, sine], {}, 'Mul_1')
  return graph.add(scope, 'Add', [along, across])
}
