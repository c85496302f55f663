import { resolve } from 'node:path'
import type { TraceComparison } from '../../compare/contract.ts'
import { insideBand } from '../../compare/rules/inside-band.ts'
import { rememberSuccess } from '../../domain/remember.ts'
import type { Target } from '../../domain/target.ts'
import type { Trace } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { valueSpec } from '../../onnx/tensors/value-spec.ts'
import type { Case, Judgement, Lab } from '../../runs/contract.ts'
import { type Fitting, onFittingInputs } from '../tensors/fitting/fit-inputs.ts'
import { readDataSet } from '../tensors/fitting/recorded.ts'
import type { PreparedInputs } from '../tensors/inputs.ts'
import { type ComparedPair, comparePair, judgeCompared, type SidePair } from '../tensors/judging/judge-pair.ts'
import { keepTraces, type MeasuredBand } from '../tensors/judging/judgement.ts'
import { type LoadedModel, loadModel } from '../tensors/load.ts'
import { findPrecision, type RuleOf, rulesFor, undeclaredPrecision } from '../tensors/rules.ts'
import {
  bothSides,
  type CapturedSide,
  type CaptureSetup,
  captureSide,
  compareSides,
  warmUp,
  wholeModel,
} from '../tensors/sides.ts'
import { explainByFunctions } from './explained.ts'
import { judgePromised } from './promised.ts'
import { type BandRequest, measureBand } from './sensitivity.ts'
import { withLayers } from './settle.ts'
import type { OnnxSuiteContext } from './suite.ts'

export interface FullModelCase extends Case {
  readonly path: string
  readonly dataSet: string | null
  readonly dims: Readonly<Record<string, number>>
  /** The only model of this run, so every given input and dimension must belong to it. */
  readonly onlyModel: boolean
  /** null: the recorded outputs of the data set. */
  readonly referenceTarget: Target | null
  /** Must agree with the first. */
  readonly otherReferences: readonly Target[]
  readonly underTest: Target
}

/** What every step of a case needs. */
interface Work extends Fitting<FullModelCase, OnnxSuiteContext> {
  readonly tested: LoadedModel
  readonly rules: RuleOf
}

/** The model on certain inputs. */
interface ModelPair {
  readonly pair: SidePair
  readonly compared: ComparedPair
}

/** Makes inputs, runs both sides and compares them; over tolerance, measures how far the reference itself moves. */
export async function judgeFullModel(c: FullModelCase, lab: Lab, options: OnnxSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, ...c.otherReferences, c.underTest])
  const model = await loadModel(c.path, 'reference', lab, options.digests)
  const tested = await otherModel(c.underTest, 'target', model, options, lab)
  const trusted = await otherModel(c.referenceTarget, 'reference', model, options, lab)
  const subject = { id: c.id, model: model.model, tested: tested.model, target: c.underTest }
  const rules = rulesFor({ ...subject, scope: 'model', overrides: options.tolerances })
  const work: Work = { c, lab, options, model, tested, trusted, rules }
  const { outcome, inputs, note, found } = await onFittingInputs(work, {
    run: (prepared) => pairOn(work, prepared),
    provesNothing: ({ compared: { comparison } }) => isDegenerate(comparison),
  })
  const hint = precisionHint(undeclaredPrecision(subject))
  const known = { hint, note, found, measurements: inputs.measurements }
  const judgement = await judgeCompared(outcome.pair, outcome.compared, known)
  return withLayers(judgement, options.layerInputs === 'reference' ? options.layersOf(c.id) : [])
}

function isDegenerate({ verdict, flags }: TraceComparison): boolean {
  return verdict === 'inconclusive' && flags.includes('degenerate')
}

async function pairOn(work: Work, inputs: PreparedInputs): Promise<ModelPair> {
  const { c, lab, tested } = work
  const setup = setupFor(work, inputs)
  const captureTarget = (alone: boolean) => captureSide(setup, 'target', c.underTest, wholeModel(tested), alone)
  const pair: SidePair = {
    lab,
    otherReferences: c.otherReferences,
    capture: () => bothSides(referenceSide(work, setup), captureTarget(false)),
    captureAlone: () => captureTarget(true),
    captureOther: (reference) => liveReference(work, setup, reference),
    compare: (reference, target) => comparePromised(work, inputs, reference, target),
    explain: (compared) => explainFailure(work, inputs, compared),
    keep: ({ reference, target }, others) => keepTraces(lab, inputs.path, reference, target, others),
  }
  return { pair, compared: await comparePair(pair) }
}

/** By the usual limits. */
function compareUsual(work: Work, inputs: PreparedInputs, reference: Trace, target: Trace): Promise<TraceComparison> {
  const { c, lab, model, rules } = work
  const request = { rules, target: c.underTest, generated: inputs.generated, model: model.model }
  return compareSides({ lab, inputs: inputs.trace }, reference, target, request)
}

/** Allows for the precision that the target's language promises. */
async function comparePromised(
  work: Work,
  inputs: PreparedInputs,
  reference: CapturedSide,
  target: CapturedSide,
): Promise<TraceComparison> {
  const compare = (trace: Trace) => compareUsual(work, inputs, reference.trace, trace)
  return judgePromised(await compare(target.trace), {
    language: target.info?.capabilities.shaders,
    model: work.model.model,
    inputs: inputs.trace,
    reference: reference.trace,
    target: target.trace,
    rules: work.rules,
    compare,
  })
}

/** Its functions may be as inexact as their language says, or roundings move the reference as far. */
async function explainFailure(work: Work, inputs: PreparedInputs, { reference, target, comparison }: ComparedPair) {
  const compare = (one: CapturedSide, two: CapturedSide) => compareUsual(work, inputs, one.trace, two.trace)
  const explained = await explainByFunctions({ ...work, usual: comparison, reference, target, compare })
  if (explained?.comparison.verdict === 'pass') return { explained }
  const band = await bandOf(work, inputs, reference)
  const comparisons = explained ? [comparison, explained.comparison] : [comparison]
  return { band, excused: band !== null && comparisons.some(({ outputs }) => insideBand(outputs, band.bands)) }
}

function setupFor({ lab, options }: Fitting, { trace, digest }: PreparedInputs): CaptureSetup {
  const { pool, areDefaults } = options
  return { lab, pool, areDefaults, inputs: trace, inputsDigest: digest }
}

function precisionHint(own: string | null): string | null {
  return own && `the target's model computes in ${own}: if that is intended, set dtype=${own}`
}

/** The model that a side runs instead of the case's own. */
async function otherModel(
  target: Target | null,
  side: Side,
  model: LoadedModel,
  options: OnnxSuiteContext,
  lab: Lab,
): Promise<LoadedModel> {
  const other = target?.options.model
  return other === undefined ? model : loadModel(resolve(options.cwd, other), side, lab, options.digests)
}

async function referenceSide(work: Work, setup: CaptureSetup): Promise<CapturedSide> {
  const { c, model } = work
  if (c.referenceTarget) return liveReference(work, setup, c.referenceTarget)
  const listed = model.model.graph.output.map(valueSpec)
  const trace = await readDataSet(c.dataSet!, 'output', listed, 'inputs', 'reference')
  return { trace, path: null, detail: {}, warnings: [], alone: true, retried: false, info: null }
}

async function liveReference(work: Work, setup: CaptureSetup, reference: Target): Promise<CapturedSide> {
  const { c, model, trusted, options, lab } = work
  const isFirst = reference === c.referenceTarget
  const given = isFirst ? trusted : await otherModel(reference, 'reference', model, options, lab)
  return captureSide(setup, 'reference', reference, wholeModel(given))
}

/** Only a live reference can be disturbed; recorded outputs have no band, so nothing excuses them. */
async function bandOf(work: Work, inputs: PreparedInputs, reference: CapturedSide): Promise<MeasuredBand | null> {
  const { c, options, trusted, rules, lab } = work
  if (!c.referenceTarget || !reference.info) return null
  const request: BandRequest = {
    reference: c.referenceTarget,
    schema: options.pool.schemaOf(c.referenceTarget),
    info: reference.info,
    model: trusted,
    inputs: inputs.trace,
    inputsDigest: inputs.digest,
    precision: findPrecision({ model: work.model.model, target: c.underTest }),
    trace: reference.trace,
    rules,
    seed: options.seed,
  }
  return rememberSuccess(options.bands, bandKey(request), () => measureBand(request, options.pool, lab))
}

function bandKey({ reference, model, inputsDigest, precision }: BandRequest): string {
  return JSON.stringify([reference, model.digest, inputsDigest, precision])
}
