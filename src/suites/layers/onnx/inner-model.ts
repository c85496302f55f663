import { resolve } from 'node:path'
import type { DType } from '../../../domain/dtype.ts'
import type { Side } from '../../../domain/verdict.ts'
import type { Branch, FlatModel, NodeKey } from '../../../onnx/flatten.ts'
import { layerSites } from '../../../onnx/layers/layer-sites.ts'
import { inferDTypes } from '../../../onnx/taps.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import type { PreparedInputs } from '../../tensors/inputs.ts'
import { decideBranches } from '../../tensors/inside/branches.ts'
import { runEdited } from '../../tensors/inside/edited-run.ts'
import { tensorsMadeIn } from '../../tensors/inside/value-sizes.ts'
import { type LoadedModel, loadModel } from '../../tensors/load.ts'
import type { LayersSuiteContext } from '../suite.ts'
import type { OnnxLayersCase } from './onnx-cases.ts'

/** A model with the branches in place that these inputs take. */
export interface InnerModel {
  readonly loaded: LoadedModel
  readonly flat: FlatModel
  readonly taken: ReadonlyMap<NodeKey, Branch>
  readonly dtypes: ReadonlyMap<string, DType>
}

/** What a side runs, which may be a model of its own. */
export async function loadSide(
  c: OnnxLayersCase,
  side: Side,
  lab: Lab,
  { cwd, digests }: LayersSuiteContext,
): Promise<LoadedModel> {
  const { model } = (side === 'reference' ? c.referenceTarget : c.underTest).options
  return loadModel(model === undefined ? c.path : resolve(cwd, model), side, lab, digests)
}

/** The reference says which branches are taken, of either model. */
export async function lookInside(
  model: LoadedModel,
  { trace, digest }: PreparedInputs,
  { referenceTarget }: OnnxLayersCase,
  info: RuntimeInfo,
  lab: Lab,
  { pool }: LayersSuiteContext,
): Promise<InnerModel> {
  const request = { reference: referenceTarget, info, model, inputs: trace, inputsDigest: digest }
  const { flat, taken } = await decideBranches(model.model, trace, (what, bytes, names) =>
    runEdited(request, { what, bytes, names }, pool, lab),
  )
  return { loaded: model, flat, taken, dtypes: inferDTypes(flat) }
}

/** A tensor inside a model, under the name of its layer. */
export interface InnerValue {
  readonly name: string
  /** The node's place among those that are judged alone. */
  readonly scope: string
  readonly value: string
}

const PREFIX = 'layer_'

/** Every tensor that nodes make, in graph order. Bodies of loops run any number of times, so only what leaves them is seen. */
export function listValues({ loaded, flat }: InnerModel): InnerValue[] {
  const tensors = tensorsMadeIn(flat)
  return layerSites(loaded.model.graph).flatMap(({ scope, keys, loop }) => {
    const output = loop === null ? (flat.nodes.get(keys[0]!)?.output ?? []) : []
    const name = scope.slice(PREFIX.length)
    const isOnly = output.filter(Boolean).length === 1
    const values = output.map((value, i) => ({ name: isOnly ? name : `${name}#${i}`, scope, value }))
    return values.filter(({ value }) => tensors.has(value))
  })
}
