import { basename } from 'node:path'
import { compareTraces, type TraceComparison } from '../../compare/traces.ts'
import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Artifact } from '../../domain/result.ts'
import type { Target } from '../../domain/target.ts'
import type { Trace } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import type { OnnxModel } from '../../onnx/model.ts'
import type { Case, Judgement, Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import { type Captured, capture } from './capture.ts'
import { prepareInputs, type PreparedInputs } from './inputs.ts'
import { loadModel } from './load.ts'
import { recordedOutputs } from './recorded.ts'
import { rulesFor } from './rules.ts'
import { measureBand } from './sensitivity.ts'
import type { OnnxSuiteOptions } from './suite.ts'

export interface FullModelCase extends Case {
  readonly path: string
  readonly dataSet: string | null
  readonly dims: Readonly<Record<string, number>>
  /** null: the recorded outputs of the data set. */
  readonly referenceTarget: Target | null
  readonly underTest: Target
}

/** Inputs, reference trace, target trace, comparison; and, when over tolerance, how far the reference itself moves. */
export async function judgeFullModel(c: FullModelCase, lab: Lab, options: OnnxSuiteOptions): Promise<Judgement> {
  const model = await loadModel(c.path, 'reference', lab)
  const tested = await testedModel(c, model, options, lab)
  const inputs = await prepareInputs(c, model, lab, options)
  const reference = await referenceSide(c, model, inputs, lab, options)
  const target = await captureSide('target', c.underTest, tested, inputs, lab, options)
  const rules = rulesFor({ id: c.id, model, tested, target: c.underTest, overrides: options.tolerances })
  const comparison = await compareSides(reference.trace, target.trace, inputs, rules, lab)
  const band = await bandWhereItMatters(c, comparison, model, inputs, reference, rules, lab, options)
  if (verdictOf(comparison, band) !== 'pass') await keepFiles(inputs, reference, target, lab)
  return judgement(c, comparison, band, inputs, reference, target, options)
}
