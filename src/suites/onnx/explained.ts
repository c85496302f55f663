import type { TraceComparison } from '../../compare/contract.ts'
import { PROMISED_OPS } from '../../compare/rules/promises.ts'
import { StageError } from '../../domain/errors.ts'
import type { TensorSource, Trace, TraceValue } from '../../domain/tensor.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { layerSites } from '../../onnx/layers/layer-sites.ts'
import { moveValues } from '../../onnx/tensors/move-values.ts'
import { normaliseDomain } from '../../onnx/walk.ts'
import type { Lab } from '../../runs/contract.ts'
import { capture } from '../tensors/capture.ts'
import type { RecordedLayer } from '../tensors/inside/activations.ts'
import { cutLayer, recordedOutputs, runLayer } from '../tensors/inside/cut-layer.ts'
import { type Explanation, PROMISED, UNPROMISED } from '../tensors/judging/judgement.ts'
import type { LoadedModel } from '../tensors/load.ts'
import type { RuleOf } from '../tensors/rules.ts'
import type { CapturedSide } from '../tensors/sides.ts'
import type { FullModelCase } from './full-model.ts'
import { compareLayer } from './layers/layer.ts'
import type { LayerSetup } from './layers/layer-setup.ts'
import type { OnnxSuiteContext } from './suite.ts'

interface Question {
  readonly c: FullModelCase
  readonly lab: Lab
  readonly options: OnnxSuiteContext
  readonly model: LoadedModel
  readonly rules: RuleOf
  /** The comparison that failed by the usual limits. */
  readonly usual: TraceComparison
  readonly reference: CapturedSide
  readonly target: CapturedSide
  readonly compare: (reference: CapturedSide, target: CapturedSide) => Promise<TraceComparison>
}

/** What one function gave on each side, on the reference's values. */
interface FunctionErrors {
  readonly op: string
  readonly name: string
  readonly reference: TensorSource
  readonly target: TensorSource
  readonly isPromised: boolean
  /** Its error is larger than that of a CPU would be. */
  readonly isOver: boolean
}

/**
 * How far a whole model is off because its functions are as inexact as their language says: each of them runs on the
 * target on what the reference computed before it, and the reference computes the model again with those errors added where
 * they arise. null where that says nothing: no such function is over the usual limits, or one breaks its promise.
 */
export async function explainByFunctions(question: Question): Promise<Explanation | null> {
  if (!canBeAsked(question)) return null
  try {
    const { c, lab, options } = question
    const setup = await options.layers.setup(c, lab, options)
    const errors = setup.doubt === null ? await errorsOf(question, setup) : null
    return errors && (await explain(question, setup, errors))
  } catch (error) {
    // What cannot be run explains nothing.
    if (error instanceof StageError && !question.lab.signal.aborted) return null
    throw error
  }
}

function canBeAsked(question: Question): boolean {
  const { c, options, model, target } = question
  if (hasGivenLimits(question)) return false
  if (!target.info?.capabilities.shaders || !c.referenceTarget || c.referenceTarget.options.model !== undefined)
    return false
  if (options.pool.schemaOf(c.referenceTarget).stored) return false
  return layerSites(model.model.graph, options.layerGroups).some(({ op }) => PROMISED_OPS.includes(op))
}

/** Limits that a user gave are always applied. */
function hasGivenLimits({ usual, rules }: Question): boolean {
  return usual.outputs.some(({ name, dtype, shape, verdict }) => {
    if (verdict !== 'fail' || dtype === null || shape === null) return false
    const rule = rules(name, { name, dtype, shape })
    return rule.kind === 'float' && rule.given === true
  })
}

/** null where one of them breaks its promise. */
async function errorsOf(question: Question, setup: LayerSetup): Promise<FunctionErrors[] | null> {
  const errors: FunctionErrors[] = []
  for (const layer of setup.layers.values()) {
    if (!isFunction(layer)) continue
    const found = await errorOf(question, setup, layer)
    if (!found) return null
    errors.push(found)
  }
  return errors.some(({ isOver }) => isOver) ? errors : null
}

/** Of float32, which every reference adds and subtracts. */
function isFunction({ nodes, outputs, values }: RecordedLayer): boolean {
  const [node, ...others] = nodes
  if (!node || others.length > 0 || normaliseDomain(node) !== '' || !PROMISED_OPS.includes(node.opType)) return false
  return values.get(outputs[0]!)?.dtype === 'float32'
}

async function errorOf(
  { c, lab, options, reference }: Question,
  setup: LayerSetup,
  layer: RecordedLayer,
): Promise<FunctionErrors | null> {
  const cut = await cutLayer(setup, layer, layer, true)
  const given = await runLayer({ ...options, lab }, 'target', c.underTest, cut)
  const recorded = { ...reference, trace: recordedOutputs(layer, cut, layer) }
  const { verdict, flags } = await compareLayer({ c, lab, options, cut, tested: cut, isMadeUp: false }, recorded, given)
  const name = layer.outputs[0]!
  const target = given.trace.tensors.get(cut.model.outputs[0]!.name)
  if (verdict === 'fail' || !target) return null
  const op = layer.nodes[0]!.opType
  return {
    op,
    name,
    reference: layer.values.get(name)!,
    target,
    isPromised: verdict === 'pass',
    isOver: flags.includes(PROMISED) || flags.includes(UNPROMISED),
  }
}

async function explain(question: Question, setup: LayerSetup, errors: readonly FunctionErrors[]): Promise<Explanation> {
  const { c, lab, options, model, reference, target, compare } = question
  const { bytes, inputs } = moveValues(
    setup.original,
    setup.flat,
    errors.map(({ name, reference: { dtype, shape } }) => ({ name, dtype, shape })),
  )
  const given = errors.flatMap(({ name, reference: from, target: to }) => {
    const by = inputs.get(name)!
    return [
      { ...to, name: by.to },
      { ...from, name: by.from },
    ]
  })
  const request = {
    target: c.referenceTarget!,
    side: 'reference' as const,
    title: "reference with the target's functions",
    model: { format: 'onnx' as const, bytes, folder: model.model.folder },
    modelDigest: computeDigest(bytes),
    expects: model.model.outputs,
    inputs: withTensors(setup.inputs.trace, given),
    inputsDigest: setup.inputs.digest,
  }
  // What the target gave is no part of the key, so this is never found in the cache.
  const info = { ...reference.info!, fingerprint: null }
  const { trace } = await capture(request, info, options.pool, lab)
  return {
    comparison: await compare({ ...reference, trace }, target),
    isPromised: errors.every(({ isPromised }) => isPromised),
    ops: [...new Set(errors.filter(({ isOver }) => isOver).map(({ op }) => op))].join(' and '),
  }
}

function withTensors({ values, tensors }: Trace, more: readonly TensorSource[]): Trace {
  const added = more.map(({ name }): TraceValue => ({ name, kind: 'tensor', length: 1 }))
  return {
    values: [...values, ...added],
    tensors: new Map([...tensors, ...more.map((source) => [source.name, source] as const)]),
  }
}
