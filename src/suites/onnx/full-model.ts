import { resolve } from 'node:path'
import type { TraceComparison } from '../../compare/contract.ts'
import { insideBand } from '../../compare/rules/inside-band.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import { valueSpec } from '../../onnx/tensors/value-spec.ts'
import type { Case, Judgement, Lab } from '../../runs/contract.ts'
import type { PreparedInputs } from '../tensors/inputs.ts'
import { judgementOf, keepTraces, type MeasuredBand } from '../tensors/judgement.ts'
import { type LoadedModel, loadModel } from '../tensors/load.ts'
import { compareOthers } from '../tensors/other-references.ts'
import { precisionOf, type RuleOf, rulesFor, undeclaredPrecision } from '../tensors/rules.ts'
import {
  bothSides,
  type CapturedSide,
  type CaptureSetup,
  captureSide,
  compareSides,
  passesAlone,
  warmUp,
  wholeModel,
} from '../tensors/sides.ts'
import { explainByFunctions } from './explained.ts'
import { type Fitting, onFittingInputs } from './fit-inputs.ts'
import { judgePromised } from './promised.ts'
import { readDataSet } from './recorded.ts'
import { remembered } from './remembered.ts'
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
interface Work extends Fitting {
  readonly tested: LoadedModel
  readonly rules: RuleOf
}

/** Both sides on the same inputs. */
interface Compared {
  readonly setup: CaptureSetup
  readonly inputs: PreparedInputs
  readonly reference: CapturedSide
  readonly target: CapturedSide
  /** By the usual limits. */
  readonly compareTwo: (one: CapturedSide, two: CapturedSide) => Promise<TraceComparison>
}

interface Sides extends Compared {
  readonly comparison: TraceComparison
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
  const fitted = await onFittingInputs(work, {
    run: (prepared) => runSides(work, prepared),
    provesNothing: ({ comparison: { verdict, flags } }) => verdict === 'inconclusive' && flags.includes('degenerate'),
  })
  const { outcome: sides, inputs, note, found } = fitted
  const { comparison, reference, target } = sides
  const hint = precisionHint(undeclaredPrecision(subject))
  const facts = { ...(await doubtsAbout(work, sides)), hint, note, found }
  const { measurements } = inputs
  const judged = { comparison, reference, target, facts, measurements }
  const judgement = judgementOf(judged)
  if (judgement.verdict !== 'pass' || lab.keepsAll) {
    await keepTraces(lab, inputs.path, reference, target, facts.others)
  }
  return withLayers(judgement, options.layerInputs === 'reference' ? options.layersOf(c.id) : [])
}

async function runSides(work: Work, inputs: PreparedInputs): Promise<Sides> {
  const { c, model, tested, rules } = work
  const setup = benchOf(work, inputs)
  const [reference, target] = await bothSides(
    referenceSide(work, setup),
    captureSide(setup, 'target', c.underTest, wholeModel(tested)),
  )
  const request = { rules, target: c.underTest, generated: inputs.generated, model: model.model }
  const compareTwo = (one: CapturedSide, two: CapturedSide) => compareSides(setup, one.trace, two.trace, request)
  const sides = { setup, inputs, reference, target, compareTwo }
  return { ...sides, comparison: await compareWith(work, sides, target) }
}

/** Compares the target with the reference, allowing for the precision that its language promises. */
async function compareWith({ model, rules }: Work, sides: Compared, target: CapturedSide): Promise<TraceComparison> {
  const { inputs, reference, compareTwo } = sides
  return judgePromised(await compareTwo(reference, target), {
    language: target.info?.capabilities.shaders,
    model: model.model,
    inputs: inputs.trace,
    reference: reference.trace,
    target: target.trace,
    rules,
    compare: (trace) => compareTwo(reference, { ...target, trace }),
  })
}

/** Collects further facts about a deviation. */
async function doubtsAbout(work: Work, sides: Sides) {
  const { c } = work
  const { setup, reference, target, comparison, compareTwo } = sides
  const run = (other: Target) => liveReference(work, setup, other)
  const question = { first: reference, target, verdict: comparison, run, compare: compareTwo }
  const others = c.otherReferences.length > 0 ? await compareOthers(c.otherReferences, question) : null
  const found = comparison.verdict === 'fail' ? await lookCloser(work, sides) : NOTHING_FOUND
  return { ...found, others }
}

const NOTHING_FOUND = { band: null, excused: false, explained: null, unstable: false }

/** Looks for other reasons why it may be over tolerance. */
async function lookCloser(work: Work, sides: Sides) {
  const { c, tested } = work
  const { setup, inputs, reference, target, comparison: usual, compareTwo } = sides
  const found = await explainByFunctions({ ...work, usual, reference, target, compare: compareTwo })
  if (found?.comparison.verdict === 'pass') return { ...NOTHING_FOUND, explained: found }
  const band = await bandOf(work, inputs, reference)
  const comparisons = found ? [usual, found.comparison] : [usual]
  const excused = band !== null && comparisons.some(({ outputs }) => insideBand(outputs, band.bands))
  const alone = () => captureSide(setup, 'target', c.underTest, wholeModel(tested), true)
  const unstable = !excused && (await passesAlone(target, alone, (given) => compareWith(work, sides, given)))
  return { band, excused, explained: null, unstable }
}

function benchOf({ lab, options }: Fitting, { trace, digest }: PreparedInputs): CaptureSetup {
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
    precision: precisionOf({ model: work.model.model, target: c.underTest }),
    trace: reference.trace,
    rules,
    seed: options.seed,
  }
  return remembered(options.bands, bandKey(request), () => measureBand(request, options.pool, lab))
}

function bandKey({ reference, model, inputsDigest, precision }: BandRequest): string {
  return JSON.stringify([reference, model.digest, inputsDigest, precision])
}
