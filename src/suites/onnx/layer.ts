import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SkipCase } from '../../domain/errors.ts'
import type { TensorSource, Trace } from '../../domain/tensor.ts'
import { digestOf } from '../../files/digest.ts'
import { createTraceWriter } from '../../files/trace-writer.ts'
import type { NodeProto } from '../../onnx/generated/onnx-ml_pb.ts'
import { type LayerBorder, layerBorder, layerModel } from '../../onnx/layer-model.ts'
import type { LayerSite } from '../../onnx/layer-sites.ts'
import { modelFromBytes } from '../../onnx/model.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import type { FullModelCase } from './full-model.ts'
import { traceDigest } from './inputs.ts'
import { judgementOf, keepTraces } from './judgement.ts'
import type { LayerBench, Sliceable } from './layer-bench.ts'
import { rulesFor } from './rules.ts'
import { type Bench, bothSides, captureSide, compareSides, passesAlone, type SideModel, warmUp } from './sides.ts'
import type { OnnxSuiteContext } from './suite.ts'

export interface LayerCase extends FullModelCase {
  readonly site: Omit<LayerSite, 'node'>
}

/** One layer as a model of its own, on what the reference computed before it. */
export async function judgeLayer(c: LayerCase, lab: Lab, options: OnnxSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, c.underTest])
  if (c.site.loop) throw new SkipCase(`it is in the body of ${c.site.loop}, which runs any number of times`)
  if (c.referenceTarget?.options.model !== undefined) {
    throw new SkipCase('the reference runs a model of its own, and these are the layers of another')
  }
  const shared = await options.layers.bench(c, lab, options)
  const node = takenNode(c, shared)
  const border = layerBorder([node], shared.index)
  const inputs = inputsOf(border, shared.values)
  const layer = await cutOut(shared, [node], border, inputs)
  const tested = await testedLayer(c, shared, layer, border, lab, options)
  const bench: Bench = { lab, pool: options.pool, areDefaults: options.areDefaults, ...(await digested(inputs)) }
  const [reference, target] = await bothSides(
    captureSide(bench, 'reference', c.referenceTarget!, layer),
    captureSide(bench, 'target', c.underTest, tested),
  )
  const subject = { id: c.id, model: layer.model, tested: tested.model, target: c.underTest, scope: 'layer' } as const
  const rules = rulesFor({ ...subject, overrides: options.tolerances })
  const request = { rules, target: c.underTest, generated: false }
  const comparison = await compareSides(bench, reference.trace, target.trace, request)
  const unstable = comparison.verdict === 'fail' && (await passesAlone(bench, reference, target, tested, request))
  const doubts = { band: null, excused: false, unstable, hint: null }
  const measurements = { op: node.opType, ...shapesOf(inputs) }
  const judged = { comparison, reference, target, doubts, measurements, reproduce: options.reproduce(c.id) }
  const judgement = judgementOf(judged)
  if (judgement.verdict !== 'pass') await keepTraces(lab, await keepLayer(lab, layer, inputs), reference, target)
  return judgement
}

/** The node in the flat graph; skipped where the inputs do not lead to it. */
function takenNode({ site }: LayerCase, { flat, taken }: LayerBench): NodeProto {
  const other = site.branches.find(({ key, branch }) => taken.get(key) !== branch)
  if (other) throw new SkipCase(`it is in the ${other.branch} of an If, which these inputs do not take`)
  return flat.nodes.get(site.key)!
}

function inputsOf({ inputs }: LayerBorder, values: ReadonlyMap<string, TensorSource>): Trace {
  const tensors = new Map<string, TensorSource>()
  for (const name of inputs) {
    const source = values.get(name)
    if (!source) throw new SkipCase(`its input "${name}" is no tensor, and workers give nothing else`)
    tensors.set(name, source)
  }
  return { values: inputs.map((name) => ({ name, kind: 'tensor', length: 1 })), tensors }
}

async function cutOut(
  from: Sliceable,
  nodes: readonly NodeProto[],
  border: LayerBorder,
  inputs: Trace,
): Promise<SideModel> {
  const { model } = from.loaded
  const bytes = await layerModel(model, from.flat, nodes, border, inputs.tensors)
  const ref = { format: 'onnx', bytes, folder: model.folder } as const
  return { model: await modelFromBytes(bytes, model.folder, 'the layer'), ref, digest: digestOf(bytes) }
}

/** The same layer of the model that the target runs instead, if it does. */
async function testedLayer(
  c: LayerCase,
  shared: LayerBench,
  layer: SideModel,
  border: LayerBorder,
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<SideModel> {
  const other = c.underTest.options.model
  if (other === undefined) return layer
  const tested = await options.layers.tested(other, c, shared, lab, options)
  const node = tested?.flat.nodes.get(tested.keys.get(c.site.scope) ?? '')
  if (!tested || !node) throw new SkipCase(`${other} has no layer of this name`)
  const own = { ...layerBorder([node], tested.index), outputs: border.outputs }
  if (border.outputs.some((name) => !node.output.includes(name))) {
    throw new SkipCase(`the layer of this name in ${other} gives ${node.output.join(', ')}`)
  }
  return cutOut(tested, [node], own, inputsOf(own, shared.values))
}

async function digested(inputs: Trace): Promise<{ inputs: Trace; inputsDigest: string }> {
  return { inputs, inputsDigest: await traceDigest(inputs) }
}

function shapesOf({ tensors }: Trace): Record<string, string> {
  const shapes = Array.from(tensors.values(), ({ name, dtype, shape }) => [
    `input.${name}`,
    `${dtype} (${shape.join(', ')}), as the reference computed it`,
  ])
  return Object.fromEntries(shapes)
}

/** Keeps the one-layer model with the run and writes its inputs beside; gives the inputs' file. */
async function keepLayer(lab: Lab, layer: SideModel, inputs: Trace): Promise<string> {
  const { folder } = await lab.step({ title: 'keep the layer', stage: 'extract', key: null }, async (place) => {
    await writeFile(join(place, 'layer.onnx'), layer.model.bytes)
    const writer = createTraceWriter(join(place, 'inputs.safetensors'), inputs.tensors.size)
    try {
      for (const source of inputs.tensors.values()) await copyTensor(source, writer.sink)
      await writer.finish(inputs.values)
    } finally {
      await writer.abort()
    }
    return {}
  })
  await lab.keep('layer.onnx', join(folder, 'layer.onnx'))
  return join(folder, 'inputs.safetensors')
}

async function copyTensor(source: TensorSource, sink: ReturnType<typeof createTraceWriter>['sink']): Promise<void> {
  const { name, dtype, shape, byteLength } = source
  let offset = 0
  for await (const bytes of source.chunks()) {
    await sink({ name, dtype, shape, offset, last: offset + bytes.length === byteLength, bytes })
    offset += bytes.length
  }
  if (byteLength === 0) await sink({ name, dtype, shape, offset: 0, last: true, bytes: new Uint8Array(0) })
}
