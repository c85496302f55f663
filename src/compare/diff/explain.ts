import type { DType } from '../../domain/dtype.ts'
import type { OutputResult } from '../../domain/result.ts'
import type { OpenPair } from './element-reader.ts'
import type { DiffFinding } from './finding.ts'
import { gridFindings } from './grid-findings.ts'
import { remainingFinding } from './noise-findings.ts'
import { orderFindings } from './order-findings.ts'
import { samplePair } from './samples.ts'
import type { SideFacts } from './side-moments.ts'
import { constantFindings, nonFiniteFindings, placeFindings } from './structure-findings.ts'
import type { Survey } from './survey.ts'
import { valueFindings } from './value-findings.ts'

/** Explains the difference of two tensors of equal shape; empty if they do not differ. */
export function explain(pair: OpenPair, survey: Survey, output: OutputResult, dtype: DType): DiffFinding[] {
  const { sums } = survey
  const nonFinite = nonFiniteFindings(survey, pair.shape)
  if (!(sums.dd > 0)) return nonFinite
  const constant = constantFindings(survey)
  if (constant.length > 0) return [...nonFinite, ...constant]
  const before = sums.rr > 0 ? Math.sqrt(sums.dd / sums.rr) : Number.POSITIVE_INFINITY
  return [...nonFinite, ...explainErrors(pair, survey, output, dtype, before)]
}

function explainErrors(
  pair: OpenPair,
  survey: Survey,
  output: OutputResult,
  dtype: DType,
  before: number,
): DiffFinding[] {
  const worst = output.worst.filter(({ error }) => Number.isFinite(error))
  const places = worst.map(({ index }) => index.reduce((place, value, axis) => place * pair.shape[axis]! + value, 0))
  const samples = samplePair(pair, pair.shape.length === worst[0]?.index.length ? places : [])
  const question = { pair, samples, targetShape: pair.shape, before, unexplained: before }
  const values = valueFindings(pair, samples, survey, before, dtype)
  const moved = values.length > 0 ? [] : orderFindings(question)
  const explained = [...values, ...moved]
  const grids = values.some(({ kind }) => kind === 'rounded') ? [] : gridFindings(pair, samples, survey, dtype)
  if (explained.length > 0) return [...explained, ...grids]
  const where = placeFindings(survey, worst[0])
  return [...grids, ...where, ...(where.length > 0 ? [] : [remainingFinding(survey, before, pair.shape)])]
}

/** Whether two tensors of different shapes hold the same values. */
export function explainShapes(pair: OpenPair, targetShape: readonly number[], target: SideFacts): DiffFinding[] {
  if (target.mean === null || target.std === null || target.std === 0) return []
  const samples = samplePair(pair, [])
  const unexplained = target.std / Math.hypot(target.mean, target.std)
  return orderFindings({ pair, samples, targetShape, before: null, unexplained })
}
