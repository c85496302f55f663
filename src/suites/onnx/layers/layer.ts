import type { Arithmetic, TraceComparison } from '../../../compare/contract.ts'
import { SkipCase, StageError } from '../../../domain/errors.ts'
import { rememberSuccess } from '../../../domain/remember.ts'
import { NOT_REACHED } from '../../../domain/result.ts'
import type { Target } from '../../../domain/target.ts'
import type { Trace } from '../../../domain/tensor.ts'
import { formatShape } from '../../../domain/tensor.ts'
import { findArithmetic } from '../../../onnx/inputs/arithmetic.ts'
import { findLayer } from '../../../onnx/layers/layer-border.ts'
import type { LayerSite } from '../../../onnx/layers/layer-sites.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import type { RecordedLayer } from '../../tensors/inside/activations.ts'
import { type CutLayer, cutLayer, recordedOutputs, runLayer } from '../../tensors/inside/cut-layer.ts'
import { judgePair, judgePassed, type SidePair } from '../../tensors/judging/judge-pair.ts'
import { rulesFor } from '../../tensors/rules.ts'
import { bothSides, type CapturedSide, compareSides, requireRuntime, warmUp } from '../../tensors/sides.ts'
import type { FullModelCase } from '../full-model.ts'
import { judgePromised } from '../promised.ts'
import type { OnnxSuiteContext } from '../suite.ts'
import { keepLayer } from './keep-layer.ts'
import type { LayerSetup } from './layer-setup.ts'
import { isData, withRandomInputs } from './random-inputs.ts'

export interface LayerCase extends FullModelCase {
  readonly site: Omit<LayerSite, 'node'>
}

/** What every step of a layer case needs. */
interface Work {
  readonly c: LayerCase
  readonly lab: Lab
  readonly options: OnnxSuiteContext
  readonly setup: LayerSetup
  readonly layer: RecordedLayer
  readonly cut: CutLayer
  /** The same layer of the model that the target runs instead, if it does. */
  readonly tested: CutLayer
  /** Its inputs are not what the reference computed. */
  readonly isMadeUp: boolean
}

/** One layer as a model of its own, on what the reference computed before it. */
export async function judgeLayer(c: LayerCase, lab: Lab, options: OnnxSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, ...c.otherReferences, c.underTest])
  refuseUnjudged(c)
  return options.layers.withSetup(
    c,
    lab,
    options,
    async (setup) => (await judgeIsland(c, setup, lab, options)) ?? judgeAlone(c, setup, lab, options),
  )
}

async function judgeAlone(c: LayerCase, setup: LayerSetup, lab: Lab, options: OnnxSuiteContext): Promise<Judgement> {
  const work = await prepare(c, setup, lab, options)
  return work.isMadeUp ? judgeOnce(work) : judgeWork(work)
}

/** A layer that ran beside others and passes; null: it must be judged alone. */
async function judgeIsland(
  c: LayerCase,
  setup: LayerSetup,
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<Judgement | null> {
  const island = await options.islands.take(c, setup, lab, options)
  if (!island) return null
  const { cut, target } = island
  const work = { c, lab, options, setup, layer: takenLayer(c, setup), cut, tested: cut, isMadeUp: false }
  try {
    const reference = await referenceValues(work)
    const comparison = await compareLayer(work, reference, target)
    return comparison.verdict === 'pass' ? judgePassed({ reference, target, comparison }, measurementsOf(work)) : null
  } catch (error) {
    if (error instanceof StageError && !lab.signal.aborted) return null
    throw error
  } finally {
    await island.release()
  }
}

/** The layer as the target gets it, under its own names. */
export async function layerUnderTest(c: LayerCase, lab: Lab, options: OnnxSuiteContext): Promise<CutLayer> {
  refuseUnjudged(c)
  return (await prepare(c, await options.layers.setup(c, lab, options), lab, options)).tested
}

/** Layers that compute the same on the same numbers are judged once. */
async function judgeOnce(work: Work): Promise<Judgement> {
  const { c, options, cut, tested } = work
  const key = JSON.stringify([cut.nameless.digest, tested.nameless.digest, cut.inputsDigest, c.reference, c.target])
  const { id, judgement } = await rememberSuccess(options.twins, key, async () => {
    return { id: c.id, judgement: await judgeWork(work) }
  })
  return id === c.id ? judgement : { ...judgement, sameAs: id }
}

function judgeWork(work: Work): Promise<Judgement> {
  const { lab, cut } = work
  const pair: SidePair = {
    lab,
    otherReferences: otherReferences(work),
    capture: () =>
      bothSides(referenceValues(work), runTarget(work)).catch((error: unknown) => keepAndThrow(work, error)),
    // In the full run the layer may have been part of something.
    ...(hasRecordedOutputs(work) && { recapture: () => runReference(work) }),
    captureAlone: () => runTarget(work, true),
    captureOther: (reference) => runLayer({ ...work.options, lab }, 'reference', reference, cut),
    compare: (reference, target) => compareLayer(work, reference, target),
    keep: ({ reference, target }) => keepLayer(lab, cut, { reference: reference.trace, target: target.trace }),
  }
  return judgePair(pair, { measurements: measurementsOf(work) })
}

/** Without those that run no model or a different one. */
function otherReferences({ c, options }: Work): Target[] {
  return c.otherReferences.filter((other) => !options.pool.schemaOf(other).stored && other.options.model === undefined)
}

/** Keeps a layer that cannot be compiled or run, so that compiler developers can debug it. */
async function keepAndThrow({ lab, tested }: Work, error: unknown): Promise<never> {
  if (error instanceof StageError && !lab.signal.aborted) await keepLayer(lab, tested)
  throw error
}

function refuseUnjudged({ site, referenceTarget }: LayerCase): void {
  if (site.loop) throw notReached(`it is in the body of ${site.loop}, which is judged as a whole`)
  if (referenceTarget?.options.model !== undefined) {
    throw new SkipCase('the reference runs a different model, which does not have these layers')
  }
}

async function prepare(c: LayerCase, setup: LayerSetup, lab: Lab, options: OnnxSuiteContext): Promise<Work> {
  const layer = takenLayer(c, setup)
  const cut = await cutLayer(setup, layer, layer, options.layerInputs === 'reference')
  const tested = await testedLayer(c, setup, layer, cut, lab, options)
  const work = { c, lab, options, setup, layer, cut, tested, isMadeUp: false }
  return options.layerInputs === 'random' ? withMadeUpInputs(work) : work
}

/** Both sides get the same numbers, whatever their models call them. */
async function withMadeUpInputs(work: Work): Promise<Work> {
  const cut = await withRandomInputs(work.cut, work.options.seed)
  const [own, theirs] = [work.cut, work.tested].map(({ inputs }) => [...inputs.tensors.keys()].join())
  if (own !== theirs) throw new SkipCase('the layer with this name in the other model takes different inputs')
  const tested = { ...work.tested, inputs: cut.inputs, inputsDigest: cut.inputsDigest }
  return { ...work, cut, tested, isMadeUp: true }
}

function notReached(reason: string): SkipCase {
  return new SkipCase(reason, [NOT_REACHED])
}

/** Skipped where the inputs do not lead to it. */
function takenLayer({ site }: LayerCase, { layers, taken }: LayerSetup): RecordedLayer {
  const other = site.branches.find(({ key, branch }) => taken.get(key) !== branch)
  if (other) throw notReached(`it is in the ${other.branch} of an If, which these inputs do not take`)
  return layers.get(site.scope)!
}

async function testedLayer(
  c: LayerCase,
  setup: LayerSetup,
  layer: RecordedLayer,
  cut: CutLayer,
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<CutLayer> {
  const other = c.underTest.options.model
  if (other === undefined) return cut
  const tested = await options.layers.tested(other, c, setup, lab, options)
  const nodes = tested?.keys.get(c.site.scope)?.flatMap((key) => tested.flat.nodes.get(key) ?? [])
  if (!tested || !nodes?.length) throw new SkipCase(`${other} has no layer with this name`)
  const made = nodes.flatMap(({ output }) => output)
  if (layer.outputs.some((name) => !made.includes(name))) {
    throw new SkipCase(`the layer with this name in ${other} outputs ${made.join(', ')}`)
  }
  return cutLayer(tested, { ...findLayer(nodes, tested.index), outputs: layer.outputs }, layer, false)
}

/** The reference's outputs within the whole model; if recording changed them, its outputs alone. */
async function referenceValues(work: Work): Promise<CapturedSide> {
  const { c, options, layer, cut } = work
  if (!hasRecordedOutputs(work)) return runReference(work)
  const info = await requireRuntime(options, 'reference', c.referenceTarget!)
  const detail = { version: info.version, ...info.detail, values: 'from the full run' }
  return {
    trace: recordedOutputs(layer, cut, layer),
    path: null,
    detail,
    warnings: [],
    alone: false,
    retried: false,
    info,
  }
}

function hasRecordedOutputs({ setup, isMadeUp }: Work): boolean {
  return setup.doubt === null && !isMadeUp
}

const runReference = ({ c, lab, options, cut }: Work) =>
  runLayer({ ...options, lab }, 'reference', c.referenceTarget!, cut)

const runTarget = ({ c, lab, options, tested }: Work, alone = false) =>
  runLayer({ ...options, lab }, 'target', c.underTest, tested, alone)

/** What comparing a layer needs; its case may also be that of the whole. */
type Compared = Pick<Work, 'lab' | 'options' | 'cut' | 'tested' | 'isMadeUp'> & { readonly c: FullModelCase }

export async function compareLayer(
  compared: Compared,
  reference: CapturedSide,
  target: CapturedSide,
): Promise<TraceComparison> {
  const { c, lab, options, cut, tested, isMadeUp } = compared
  const subject = { id: c.id, model: cut.model, tested: tested.model, target: c.underTest, scope: 'layer' } as const
  const arithmetic = arithmeticIn(cut, reference.trace)
  const rules = rulesFor({ ...subject, arithmetic, overrides: options.tolerances })
  const generated = isMadeUp && [...cut.inputs.tensors.values()].some(isData)
  const request = { rules, target: c.underTest, generated, model: cut.model }
  const compare = (trace: Trace) => compareSides({ lab, inputs: cut.inputs }, reference.trace, trace, request)
  return judgePromised(await compare(target.trace), {
    language: target.info?.capabilities.shaders,
    model: cut.model,
    inputs: cut.inputs,
    reference: reference.trace,
    target: target.trace,
    rules,
    compare,
  })
}

/** Of the nodes whose input and output are seen. */
function arithmeticIn({ model, inputs }: CutLayer, { tensors }: Trace): Arithmetic {
  const found = model.graph.node.flatMap((node) => {
    const [input, output] = [inputs.tensors.get(node.input[0] ?? ''), tensors.get(node.output[0] ?? '')]
    if (!input || !output) return []
    return findArithmetic(node, { input: input.shape, output: output.shape, opset: model.opsets.get('') ?? 1 })
  })
  return {
    terms: Math.max(1, ...found.map(({ terms }) => terms)),
    aroundOne: found.some(({ aroundOne }) => aroundOne),
  }
}

function measurementsOf({ c, setup, cut, isMadeUp }: Work): Record<string, string> {
  return {
    op: c.site.op,
    ...shapesOf(cut.inputs, isMadeUp),
    ...(setup.doubt !== null && { 'both sides alone': `because ${setup.doubt}` }),
  }
}

function shapesOf({ tensors }: Trace, isMadeUp: boolean): Record<string, string> {
  const shapes = Array.from(tensors.values(), (spec) => {
    const how = isMadeUp && isData(spec) ? 'random' : 'as the reference computed it'
    return [`input.${spec.name}`, `${spec.dtype} ${formatShape(spec.shape)}, ${how}`]
  })
  return Object.fromEntries(shapes)
}
