import { UsageError } from '../../domain/errors.ts'
import type { GroupPattern } from '../../onnx/layers/layer-groups.ts'
import { type Kind, list } from '../../options/kinds.ts'

/** Where a layer's inputs come from. */
export const LAYER_INPUTS = ['reference', 'random'] as const
export type LayerInputs = (typeof LAYER_INPUTS)[number]

/** Ops that are judged together as one layer, each as `Conv+Clip`. */
export const layerGroups: Kind<readonly GroupPattern[]> = {
  ...list,
  read: (raw, flag, origin) => list.read(raw, flag, origin).map((given) => parseGroup(given, flag)),
  write: (value) => value.map(groupText).join(' '),
  word: (one) => (Array.isArray(one) ? groupText(one) : String(one)),
}

const groupText = (ops: GroupPattern) => ops.join('+')

function parseGroup(given: string, flag: string): GroupPattern {
  const ops = given.split('+').map((op) => op.trim())
  if (ops.length > 1 && ops.every((op) => /^\w+$/.test(op))) return ops
  throw new UsageError('layer-group', `${flag} takes two or more ops such as Conv+Clip, found "${given}"`)
}
