import { findConfig, readConfig } from '../../../models/hugging-face/model-folder.ts'
import type { JudgedLayer } from '../judging/conclude.ts'
import type { LayerJudging } from '../judging/contract.ts'
import type { MeasuredLayer } from '../measured-layer.ts'
import { fmsNames } from './fms-names.ts'

type Rename = (name: string) => string

/** The names of foundation-model-stack for the modules of a folder; null: its architecture is not known. */
export function fmsNamesOf(path: string): Rename | null {
  const file = findConfig(path)
  const type = file === null ? undefined : readConfig(file)?.model_type
  return typeof type === 'string' ? fmsNames(type) : null
}

/** Limits may be kept under either name. */
export function limitsByBoth(judging: LayerJudging, rename: Rename): LayerJudging {
  const { source, find } = judging.limits
  return { ...judging, limits: { source, find: (name, shape) => find(name, shape) ?? find(rename(name), shape) } }
}

export function renameLayers(layers: readonly MeasuredLayer[], rename: Rename): Map<MeasuredLayer, MeasuredLayer> {
  return new Map(layers.map((layer) => [layer, { ...layer, name: rename(layer.name) }]))
}

export function renameJudged({ standing, origin }: JudgedLayer, to: MeasuredLayer, rename: Rename): JudgedLayer {
  if (!origin) return { layer: to, standing }
  const renamed = origin.kind === 'contains' ? { ...origin, layer: rename(origin.layer) } : origin
  return { layer: to, standing, origin: renamed }
}
