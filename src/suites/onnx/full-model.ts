import { resolve } from 'node:path'
import { compareTraces } from '../../compare/compare-traces.ts'
import type { TraceComparison } from '../../compare/contract.ts'
import { insideBand } from '../../compare/inside-band.ts'
import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Trace } from '../../domain/tensor.ts'
import type { Side, Verdict } from '../../domain/verdict.ts'
import type { Case, Judgement, Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import { capture } from './capture.ts'
import { type PreparedInputs, prepareInputs } from './inputs.ts'
import { type LoadedModel, loadModel } from './load.ts'
import { readDataSet } from './recorded.ts'
import { declaredPrecision, precisionOf, type RuleOf, rulesFor, undeclaredPrecision } from './rules.ts'
import { type BandRequest, type MeasuredBand, measureBand } from './sensitivity.ts'
import type { OnnxSuiteContext } from './suite.ts'

export interface FullModelCase extends Case {
  readonly path: string
  readonly dataSet: string | null
  readonly dims: Readonly<Record<string, number>>
  /** No other model is judged in this run, so every given input and dimension must be its own. */
  readonly onlyModel: boolean
  /** null: the recorded outputs of the data set. */
  readonly referenceTarget: Target | null
  readonly underTest: Target
}

/** What one side gave, and what is known about how. */
interface Given {
  readonly trace: Trace
  /** null: read from the user's own files. */
  readonly path: string | null
  readonly detail: Readonly<Record<string, string | number>>
  /** What the device said against its work. */
  readonly warnings: readonly string[]
  /** Nothing had run before in its worker. */
  readonly alone: boolean
  readonly retried: boolean
  readonly info: RuntimeInfo | null
  readonly model: LoadedModel
}

/** A case on its way: what every step needs. */
interface Work {
  readonly c: FullModelCase
  readonly lab: Lab
  readonly options: OnnxSuiteContext
  readonly model: LoadedModel
  readonly tested: LoadedModel
  readonly inputs: PreparedInputs
}

/** Inputs, reference trace, target trace, comparison; and, when over tolerance, how far the reference itself moves. */
export async function judgeFullModel(c: FullModelCase, lab: Lab, options: OnnxSuiteContext): Promise<Judgement> {
  warmUp(c, options)
  const model = await loadModel(c.path, 'reference', lab)
  const tested = await testedModel(c, model, options, lab)
  const inputs = await prepareInputs(c, model, lab, options)
  const work = { c, lab, options, model, tested, inputs }
  const [reference, target] = await bothSides(referenceSide(work), targetSide(work))
  const rules = rulesFor({
    id: c.id,
    model: model.model,
    tested: tested.model,
    target: c.underTest,
    overrides: options.tolerances,
  })
  const comparison = await compareSides(work, reference.trace, target.trace, rules)
  const band = comparison.verdict === 'fail' ? await bandOf(work, reference, rules) : null
  const excused = band !== null && insideBand(comparison.outputs, band.bands)
  const unstable = comparison.verdict === 'fail' && !excused && (await passesAlone(work, reference, target, rules))
  const judged = judgement(work, comparison, { band, excused, unstable }, reference, target)
  if (judged.verdict !== 'pass') await keepFiles(work, reference, target)
  return judged
}

/** Workers start while the model is read; whoever needs them next sees how that went. */
function warmUp({ referenceTarget, underTest }: FullModelCase, { pool }: OnnxSuiteContext): void {
  for (const target of [referenceTarget, underTest]) if (target) pool.probe(target).catch(() => {})
}

/** Beside each other; where both fail it is the reference that is blamed. */
async function bothSides(reference: Promise<Given>, target: Promise<Given>): Promise<[Given, Given]> {
  const [first, second] = await Promise.allSettled([reference, target])
  if (first.status === 'rejected') throw first.reason
  if (second.status === 'rejected') throw second.reason
  return [first.value, second.value]
}

async function testedModel(
  c: FullModelCase,
  model: LoadedModel,
  options: OnnxSuiteContext,
  lab: Lab,
): Promise<LoadedModel> {
  const other = c.underTest.options.model
  return other === undefined ? model : loadModel(resolve(options.cwd, other), 'target', lab)
}

async function referenceSide(work: Work): Promise<Given> {
  const { c, model, options, lab } = work
  if (c.referenceTarget) {
    const own = c.referenceTarget.options.model
    const given = own === undefined ? model : await loadModel(resolve(options.cwd, own), 'reference', lab)
    return captureSide(work, 'reference', c.referenceTarget, given)
  }
  const trace = await readDataSet(c.dataSet!, 'output', model.model.outputs, 'inputs', 'reference')
  return { trace, path: null, detail: {}, warnings: [], alone: true, retried: false, info: null, model }
}

function targetSide(work: Work): Promise<Given> {
  return captureSide(work, 'target', work.c.underTest, work.tested)
}

async function captureSide(work: Work, side: Side, target: Target, model: LoadedModel, alone = false): Promise<Given> {
  const { lab, options, inputs } = work
  const info = await options.pool.probe(target)
  if (!info.available) throw notAvailable(target, side, info.reason, options)
  const request = {
    target,
    side,
    title: `run ${alone ? 'alone ' : ''}on ${target.name}`,
    alone,
    model: { format: 'onnx' as const, path: model.path },
    modelDigest: model.digest,
    expects: model.model.outputs,
    inputs: inputs.trace,
    inputsDigest: inputs.digest,
  }
  const captured = await capture(request, info, options.pool, lab)
  const detail = { version: info.version, ...info.detail, ...captured.detail, run_ms: captured.durationMs }
  return { ...captured, detail, info, model }
}

/** Whether a target whose sessions share memory gives numbers that pass when nothing ran before. */
async function passesAlone(work: Work, reference: Given, target: Given, rules: RuleOf): Promise<boolean> {
  if (target.alone || !target.info?.capabilities.sharedMemory) return false
  try {
    const alone = await captureSide(work, 'target', work.c.underTest, target.model, true)
    return (await compareSides(work, reference.trace, alone.trace, rules)).verdict !== 'fail'
  } catch (error) {
    // That it cannot even run alone changes nothing about the numbers it gave.
    if (error instanceof StageError) return false
    throw error
  }
}

function notAvailable(target: Target, side: Side, reason: string, { areDefaults }: OnnxSuiteContext): Error {
  const message = `${target.name} is not available: ${reason}`
  return side === 'target' && areDefaults ? new SkipCase(message) : new StageError('discover', message, { side })
}

async function compareSides(work: Work, reference: Trace, target: Trace, rules: RuleOf): Promise<TraceComparison> {
  let comparison: TraceComparison | undefined
  await work.lab.step({ title: 'compare', stage: 'compare', key: null }, async () => {
    comparison = await compareTraces(reference, target, {
      ruleOf: rules,
      generated: work.inputs.generated,
      targetDType: declaredPrecision(work.c.underTest),
      indexed: (tensor) => work.inputs.trace.tensors.get(tensor) ?? reference.tensors.get(tensor),
    })
  })
  return comparison!
}

/** Only a live reference can be disturbed; recorded outputs have no band, so nothing excuses them. */
async function bandOf(work: Work, reference: Given, rules: RuleOf): Promise<MeasuredBand | null> {
  const { c, options, inputs, lab } = work
  if (!c.referenceTarget || !reference.info) return null
  const request: BandRequest = {
    reference: c.referenceTarget,
    schema: options.pool.schemaOf(c.referenceTarget),
    info: reference.info,
    model: reference.model,
    inputs: inputs.trace,
    inputsDigest: inputs.digest,
    precision: precisionOf({ model: work.model.model, target: c.underTest }),
    trace: reference.trace,
    rules,
    seed: options.seed,
  }
  return measuredOnce(options.bands, bandKey(request), () => measureBand(request, options.pool, lab))
}

function bandKey({ reference, model, inputsDigest, precision }: BandRequest): string {
  return JSON.stringify([reference, model.digest, inputsDigest, precision])
}

/** One that failed is measured again by whoever asks next. */
function measuredOnce<T>(known: Map<string, Promise<T>>, key: string, measure: () => Promise<T>): Promise<T> {
  const found = known.get(key)
  if (found) return found
  const measuring = measure()
  known.set(key, measuring)
  measuring.catch(() => known.delete(key))
  return measuring
}

/** What was found out about a deviation besides its size. */
interface Doubts {
  readonly band: MeasuredBand | null
  /** Roundings move the reference as far. */
  readonly excused: boolean
  /** What ran before changes the target's numbers. */
  readonly unstable: boolean
}

function judgement(
  work: Work,
  comparison: TraceComparison,
  { band, excused, unstable }: Doubts,
  reference: Given,
  target: Given,
): Judgement {
  const verdict = verdictOf(comparison, excused, target)
  const reason = reasonOf(work, comparison, { excused, unstable, warnings: target.warnings })
  const flags = [
    ...comparison.flags.filter((flag) => flag !== 'over-tolerance'),
    ...(excused ? ['sensitive'] : []),
    ...(unstable ? ['unstable'] : []),
    ...(target.warnings.length > 0 ? ['warned'] : []),
    ...(reference.retried || target.retried ? ['retried'] : []),
  ]
  return {
    verdict,
    ...(reason === undefined ? {} : { reason }),
    flags,
    coverage: comparison.coverage,
    metrics: comparison.metrics,
    outputs: comparison.outputs,
    worst: comparison.worst,
    ...(band ? { band: band.bands } : {}),
    measurements: {
      ...work.inputs.measurements,
      ...prefixed('reference', reference.detail),
      ...prefixed('target', target.detail),
      ...(target.warnings.length > 0 && { 'target.warnings': target.warnings.join('\n') }),
      ...(band && band.problems.length > 0 && { 'sensitivity.not_measured': band.problems.join('; ') }),
    },
    reproduce: work.options.reproduce(work.c.id),
  }
}

/** Numbers that agree although the device refused part of the work prove nothing. */
function verdictOf({ verdict }: TraceComparison, excused: boolean, { warnings }: Given): Verdict {
  return excused || (verdict === 'pass' && warnings.length > 0) ? 'inconclusive' : verdict
}

function reasonOf(
  { c, model, tested }: Work,
  { verdict, reason }: TraceComparison,
  { excused, unstable, warnings }: { excused: boolean; unstable: boolean; warnings: readonly string[] },
): string | undefined {
  if (warnings.length > 0) return `${reason ?? 'the numbers agree'}; the target's device warned: ${warnings[0]}`
  if (unstable) return `${reason}; alone in a fresh worker it passes, so what ran before changes the target's numbers`
  if (excused) return `over tolerance, but roundings move the reference as far: ${reason}`
  const own = undeclaredPrecision({ model: model.model, tested: tested.model, target: c.underTest })
  if (verdict !== 'fail' || own === null) return reason
  return `${reason}; the target's model computes in ${own}: if it should, say so with dtype=${own}`
}

function prefixed(side: Side, detail: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(detail).map(([key, value]) => [`${side}.${key}`, value]))
}

async function keepFiles({ inputs, lab }: Work, reference: Given, target: Given): Promise<void> {
  if (inputs.path) await lab.keep('inputs.safetensors', inputs.path)
  if (reference.path) await lab.keep('reference.safetensors', reference.path)
  if (target.path) await lab.keep('target.safetensors', target.path)
}
