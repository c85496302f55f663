import { dtypeKind } from '../../domain/dtype.ts'
import type { OutputResult } from '../../domain/result.ts'
import { elementCount, formatShape, type TensorSource, type TensorSpec } from '../../domain/tensor.ts'
import { loadBytes, type TensorBytes } from '../../tensors/tensor-bytes.ts'
import { coarserDType } from '../../tensors/ulp.ts'
import { viewAsReal } from '../../tensors/view-as-real.ts'
import { compareTensors } from '../compare-tensors.ts'
import type { PairMeasurer, Rule } from '../contract.ts'
import { defaultRule } from '../rules/default-rule.ts'
import { planNumbers } from '../rules/numeric-plan.ts'
import { layOutSlice } from '../slice/grid.ts'
import { chooseSlice, parseSlice } from '../slice/slice-index.ts'
import type { AxisProfile } from './axis-profiles.ts'
import { type OpenPair, withElements } from './element-reader.ts'
import type { ErrorHistogram } from './error-histogram.ts'
import { explain, explainShapes } from './explain.ts'
import type { DiffFinding } from './finding.ts'
import { type Neighbours, type Picture, type PictureSize, readNeighbours, readPicture } from './picture.ts'
import { momentFacts, type SideFacts, SideMoments } from './side-moments.ts'
import { type Survey, surveyPair } from './survey.ts'

export interface DiffOptions {
  /** How to judge the pair; by default floats with whole-model tolerances of their precision, all else exactly. */
  readonly ruleOf?: (tensorName: string, spec: TensorSpec) => Rule
  /** Such as threads that read the files of both sides themselves. */
  readonly measurer?: PairMeasurer
  /** Reads tensors from their files; without it they are held in memory. */
  readonly open?: (source: TensorSource) => Promise<TensorBytes>
  /** Another way to survey two tensors; null: survey these here. */
  readonly survey?: (reference: TensorSource, target: TensorSource) => Promise<Survey> | null
  /** The slice to show, for example `0,:,:,17`; by default the last two axes at the worst place. */
  readonly slice?: string
  readonly pictureSize?: PictureSize
}

/** One side and statistics of its numbers (null for strings). */
export interface DiffSide extends TensorSpec {
  readonly facts: SideFacts | null
}

/** Two tensors and everything that was found out about their difference. */
export interface TensorDiff {
  readonly name: string
  readonly reference: DiffSide
  readonly target: DiffSide
  /** Verdict, metrics and worst places. */
  readonly output: OutputResult
  readonly findings: readonly DiffFinding[]
  /** Histogram of |t − r| by half decades; null if shapes differ. */
  readonly histogram: ErrorHistogram | null
  /** The smallest and the largest error that the rule allows at any place. */
  readonly limits: { readonly least: number; readonly most: number } | null
  /** Sums of squared errors by index of every axis. */
  readonly axes: readonly AxisProfile[]
  /** The requested slice, or the one with the worst place. */
  readonly picture: Picture | null
  readonly neighbours: Neighbours | null
}

const PICTURE: PictureSize = { rows: 32, columns: 64 }
const AROUND: PictureSize = { rows: 5, columns: 3 }

/** Judges two tensors and explains their difference; every claim is measured on all elements. */
export async function diffTensors(
  reference: TensorSource,
  target: TensorSource,
  options: DiffOptions = {},
): Promise<TensorDiff> {
  const output = await judge(reference, target, options)
  const nothing = { histogram: null, limits: null, axes: [], picture: null, neighbours: null, findings: [] }
  const sides = { name: reference.name, reference: sideOf(reference, null), target: sideOf(target, null), output }
  if (reference.dtype === 'string' || target.dtype === 'string') return { ...sides, ...nothing }
  return withElements(viewAsReal(reference), viewAsReal(target), options.open ?? loadBytes, async (pair) => {
    const isSameShape = formatShape(viewAsReal(reference).shape) === formatShape(viewAsReal(target).shape)
    if (!isSameShape) return diffShapes(reference, target, output, pair)
    const survey = await (options.survey?.(viewAsReal(reference), viewAsReal(target)) ?? surveyPair(pair))
    const limits = limitsOf(reference, target, survey, options)
    return {
      ...sides,
      reference: sideOf(reference, survey.reference),
      target: sideOf(target, survey.target),
      findings: explain(pair, survey, output, viewAsReal(reference).dtype),
      histogram: survey.histogram,
      limits,
      axes: survey.axes,
      ...showSlice(pair, output, options),
    }
  })
}

function sideOf({ name, dtype, shape }: TensorSource, facts: SideFacts | null): DiffSide {
  return { name, dtype, shape, facts }
}

/** Floats of two precisions are compared by the rule of the coarser one; the dtype mismatch is still a failure. */
async function judge(reference: TensorSource, target: TensorSource, options: DiffOptions): Promise<OutputResult> {
  const { measurer } = options
  const context = { generated: false, targetDType: null, measurer }
  const areFloats = dtypeKind(reference.dtype) === 'float' && dtypeKind(target.dtype) === 'float'
  const isOnlyDType = formatShape(reference.shape) === formatShape(target.shape) && reference.dtype !== target.dtype
  const plain = await compareTensors(reference, target, ruleFor(reference, target, options), context)
  if (!areFloats || !isOnlyDType) return plain
  const rule = ruleFor(reference, target, options)
  const judged = await compareTensors(reference, target, rule, { ...context, targetDType: target.dtype })
  const numbers = judged.reason ?? `all ${elementCount(reference.shape)} values are within the limits`
  return { ...judged, verdict: 'fail', reason: `${plain.reason}; ${numbers}`, flags: [...plain.flags, ...judged.flags] }
}

function ruleFor(reference: TensorSource, target: TensorSource, { ruleOf = defaultRule }: DiffOptions): Rule {
  const isFloat = dtypeKind(reference.dtype) === 'float' && dtypeKind(target.dtype) === 'float'
  const dtype = isFloat ? coarserDType(reference.dtype, target.dtype) : reference.dtype
  return ruleOf(reference.name, { ...reference, dtype })
}

/** The limits of the elements; at places where |r| is 0 and where it is largest. */
function limitsOf(reference: TensorSource, target: TensorSource, survey: Survey, options: DiffOptions) {
  const rule = ruleFor(reference, target, options)
  const { min, max } = survey.reference
  const areAlike = dtypeKind(reference.dtype) === dtypeKind(target.dtype)
  if (rule.kind === 'index' || !areAlike || min === null || max === null) return null
  const largest = Math.max(Math.abs(min), Math.abs(max))
  const { limits } = planNumbers(rule, reference, target, largest)
  return { least: limits.constant, most: limits.constant + limits.rtol * largest }
}

function diffShapes(reference: TensorSource, target: TensorSource, output: OutputResult, pair: OpenPair): TensorDiff {
  const [r, t] = [viewAsReal(reference), viewAsReal(target)]
  const facts = {
    reference: factsOf(pair.reference, elementCount(r.shape)),
    target: factsOf(pair.target, elementCount(t.shape)),
  }
  return {
    name: reference.name,
    reference: sideOf(reference, facts.reference),
    target: sideOf(target, facts.target),
    output,
    findings: elementCount(r.shape) === elementCount(t.shape) ? explainShapes(pair, t.shape, facts.target) : [],
    histogram: null,
    limits: null,
    axes: [],
    picture: null,
    neighbours: null,
  }
}

const BLOCK = 16384

function factsOf(reader: OpenPair['reference'], count: number): SideFacts {
  const moments = new SideMoments()
  const numbers = new Float64Array(BLOCK)
  for (let first = 0; first < count; first += BLOCK) {
    const length = Math.min(BLOCK, count - first)
    reader.read(first, length, numbers)
    moments.add(numbers.subarray(0, length))
  }
  return momentFacts([moments.sums])
}

function showSlice(
  pair: OpenPair,
  { worst, shape }: OutputResult,
  options: DiffOptions,
): Pick<TensorDiff, 'picture' | 'neighbours'> {
  if (pair.count === 0) return { picture: null, neighbours: null }
  const at = pair.shape.map((_, axis) => worst[0]?.index[axis] ?? 0)
  const chosen = options.slice === undefined ? chooseSlice(at, pair.shape) : parseSlice(options.slice, pair.shape)
  if (!chosen) return { picture: null, neighbours: null }
  const grid = layOutSlice(pair.shape, chosen)
  const isShown = chosen.every((index, axis) => index === null || index === at[axis])
  return {
    picture: readPicture(pair, grid, options.pictureSize ?? PICTURE),
    neighbours: shape && isShown && worst.length > 0 ? readNeighbours(pair, grid, at, AROUND) : null,
  }
}
