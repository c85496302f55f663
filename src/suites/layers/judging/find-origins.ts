import { layerMetrics } from '../../../compare/layers/layer-metrics.ts'
import type { MeasuredLayer } from '../measured-layer.ts'
import { checkLayer } from './check-layer.ts'
import type { ErrorOrigin, LayerJudging, LocalError, LocalReplay } from './contract.ts'
import { isInput } from './layer-names.ts'

/** What a layer over its limit does alone: it is off or not, or nobody knows. */
type Alone = 'off' | 'within' | { readonly unknown: string }

/** Says of layers over their limits where the error was made; they come in the order in which they are computed. */
export async function findOrigins(
  over: readonly MeasuredLayer[],
  judging: LayerJudging,
): Promise<ReadonlyMap<MeasuredLayer, ErrorOrigin>> {
  const replay = await judging.replay()
  if ('absent' in replay) return new Map(over.map((layer) => [layer, { kind: 'not replayed', why: replay.absent }]))
  const inputs: ErrorOrigin = { kind: 'came in' }
  const parts = over.filter(({ name }) => !replay.isWhole(name) && !isInput(name))
  const errors = await replay.measureLocal([...new Set(parts.map(({ name }) => name))])
  const alone = new Map(parts.map((layer) => [layer, judgeAlone(layer, errors.get(layer.name), judging)]))
  // An output of the whole model is computed after all layers, and what goes into a layer by those before it.
  const outputs: ErrorOrigin = { kind: over.every(({ name }) => replay.isWhole(name)) ? 'made there' : 'came in' }
  const others = ({ name }: MeasuredLayer) => (isInput(name) ? inputs : outputs)
  return new Map(over.map((layer) => [layer, alone.has(layer) ? originOf(layer, alone, replay) : others(layer)]))
}

function judgeAlone(layer: MeasuredLayer, error: LocalError | undefined, { limits, margin }: LayerJudging): Alone {
  if (!error) return { unknown: 'it gave nothing when it was run alone' }
  if ('problem' in error) return { unknown: error.problem }
  const { problem: _, ...tensor } = layer
  const standing = checkLayer({ ...tensor, sums: error.sums, metrics: layerMetrics(error.sums) }, limits, margin)
  if (standing.kind === 'over') return 'off'
  return standing.kind === 'within' ? 'within' : { unknown: standing.why }
}

/** The innermost layer that is off alone is to blame; layers that contain it give its error on. */
function originOf(layer: MeasuredLayer, alone: ReadonlyMap<MeasuredLayer, Alone>, replay: LocalReplay): ErrorOrigin {
  const state = alone.get(layer)!
  if (state === 'within') return { kind: 'came in' }
  if (state !== 'off') return { kind: 'not replayed', why: state.unknown }
  const inside = [...alone].filter(([one]) => replay.isPart(one.name, layer.name))
  const culprits = inside.filter(([, one]) => one === 'off').map(([one]) => one)
  const innermost = culprits.find((one) => !culprits.some((other) => replay.isPart(other.name, one.name)))
  if (innermost) return { kind: 'contains', layer: innermost.name }
  return { kind: inside.length > 0 ? 'made inside' : 'made there' }
}
