import { SkipCase } from '../../../domain/errors.ts'
import { findLayer, indexFlat, type Layer } from '../../../onnx/layers/layer-border.ts'
import type { LayerSource } from '../../../onnx/layers/layer-model.ts'
import { layerSites } from '../../../onnx/layers/layer-sites.ts'
import { type RecordedLayer, recordChunks } from '../../tensors/inside/activations.ts'
import { cutLayer } from '../../tensors/inside/cut-layer.ts'
import type { LocalError, LocalReplay } from '../judging/contract.ts'
import { readMask } from '../measure-layers.ts'
import { type InnerModel, type InnerValue, listValues } from './inner-model.ts'
import type { OnnxPair } from './measure-onnx.ts'
import { type CutNode, runNodes } from './run-nodes.ts'

/** Runs nodes alone on the target, each on what the reference computed before it. */
export function replayNodes(pair: OnnxPair): LocalReplay {
  return {
    measureLocal: (names) => measureNodes(pair, new Set(names)),
    isPart: () => false,
    isWhole: () => false,
  }
}

async function measureNodes(pair: OnnxPair, names: ReadonlySet<string>): Promise<ReadonlyMap<string, LocalError>> {
  const { c, lab, options, inputs, info, reference, target } = pair
  const wanted = listValues(reference).filter(({ name }) => names.has(name))
  const sites = sitesOf(reference, new Set(wanted.map(({ scope }) => scope)))
  const look = { reference: c.referenceTarget, info, model: reference.loaded }
  const request = { ...look, inputs: inputs.trace, inputsDigest: inputs.digest, sites }
  const known = { ...reference, index: indexFlat(reference.flat) }
  const tested = target === reference ? null : findNodes(target)
  const { pool, cwd } = options
  const place = { c, lab, pool, cwd, mask: await readMask(inputs.trace) }
  const errors = new Map<string, LocalError>()
  for await (const { layers, forget } of recordChunks(request, known, options.pool, lab)) {
    try {
      const nodes: CutNode[] = []
      for (const value of wanted) {
        const layer = layers.get(value.scope)
        if (!layer) continue
        const cut = await cutNode(reference, value, layer, tested)
        if ('problem' in cut) errors.set(value.name, cut)
        else nodes.push(cut)
      }
      for (const [name, error] of await runNodes(nodes, place)) errors.set(name, error)
    } finally {
      await forget()
    }
  }
  return errors
}

function sitesOf({ loaded }: InnerModel, scopes: ReadonlySet<string>) {
  return layerSites(loaded.model.graph).filter(({ scope }) => scopes.has(scope))
}

/** A target's own model, whose nodes are found by the place of the layer. */
interface TestedNodes {
  readonly source: LayerSource
  find(scope: string, value: string): Layer | null
}

function findNodes(inner: InnerModel): TestedNodes {
  const { loaded, flat } = inner
  const keys = new Map(layerSites(loaded.model.graph).map((site) => [site.scope, site.keys]))
  const index = indexFlat(flat)
  return {
    source: sourceOf(inner),
    find: (scope, value) => {
      const nodes = (keys.get(scope) ?? []).flatMap((key) => flat.nodes.get(key) ?? [])
      return nodes.some(({ output }) => output.includes(value)) ? findLayer(nodes, index) : null
    },
  }
}

function sourceOf({ loaded, flat, dtypes }: InnerModel): LayerSource {
  return { original: loaded.model, flat, dtypes }
}

/** One output of a node as a model of its own. */
async function cutNode(
  reference: InnerModel,
  { name, scope, value }: InnerValue,
  layer: RecordedLayer,
  tested: TestedNodes | null,
): Promise<CutNode | { readonly problem: string }> {
  const recorded = layer.values.get(value)
  if (!recorded) return { problem: 'no other node uses it, so it is not run alone' }
  const theirs = tested ? tested.find(scope, value) : layer
  if (!theirs) return { problem: `the target's model has no node of this name that makes "${value}"` }
  try {
    const source = tested?.source ?? sourceOf(reference)
    return { name, recorded, cut: await cutLayer(source, { ...theirs, outputs: [value] }, layer, false) }
  } catch (error) {
    if (error instanceof SkipCase) return { problem: error.message }
    throw error
  }
}
