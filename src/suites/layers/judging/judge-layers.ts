import type { MeasuredLayer } from '../measured-layer.ts'
import { checkLayer, isEmpty } from './check-layer.ts'
import type { JudgedLayer } from './conclude.ts'
import type { LayerJudging } from './contract.ts'
import { findOrigins } from './find-origins.ts'

/** Judges layers at every step, in the order in which the reference computes them. */
export async function judgeLayers(layers: readonly MeasuredLayer[], judging: LayerJudging): Promise<JudgedLayer[]> {
  const { limits, margin } = judging
  const judged = layers
    .filter((layer) => !isEmpty(layer))
    .map((layer): JudgedLayer => ({ layer, standing: checkLayer(layer, limits, margin) }))
  const over = judged.filter(({ standing }) => standing.kind === 'over').map(({ layer }) => layer)
  if (over.length === 0) return judged
  const origins = await findOrigins(over, judging)
  return judged.map((one) => {
    const origin = origins.get(one.layer)
    return origin ? { ...one, origin } : one
  })
}
