import { dtypeKind } from '../../../domain/dtype.ts'
import { formatShape } from '../../../domain/tensor.ts'
import type { OutputFigures, Signature, SnapshotTolerance } from '../snapshot/schema.ts'
import { estimateDistance } from './projections.ts'
import { aboveLeast } from './signature.ts'

/** Which limits hold for a float output; others are exact. */
export type FigureLimits = Pick<SnapshotTolerance, 'rtol' | 'rel_l2'>

/** One number of an output whose relL2 is at its limit seldom errs by more than so many times its share. */
const SPREAD = 4

const MOMENTS = ['mean', 'rms', 'min', 'max'] as const
const STRANGE = ['nan', 'positive_infinity', 'negative_infinity'] as const

/** An output of the snapshot and the same one now. */
export interface OutputChange {
  readonly expected: OutputFigures
  readonly found: OutputFigures
  /** Nothing can be compared; in words. */
  readonly problem: string | null
  /** Estimated from the projections. */
  readonly relL2: number
  readonly limit: number
  /** Moments that are over their limit. */
  readonly moved: readonly (typeof MOMENTS)[number][]
  /** Rows whose largest value is in another place, where roundings do not explain it. */
  readonly top1Changed: number
  readonly isOver: boolean
}

export function compareOutput(expected: OutputFigures, found: OutputFigures, tolerance: FigureLimits): OutputChange {
  const limits = dtypeKind(expected.dtype) === 'float' ? tolerance : { rtol: 0, rel_l2: 0 }
  const problem = findProblem(expected, found)
  const norm = expected.rms * Math.sqrt(expected.count)
  const distance = estimateDistance(expected.projections, found.projections)
  const relL2 = distance === 0 ? 0 : distance / norm
  const moved = MOMENTS.filter((name) => !isNear(expected[name], found[name], allowedMoment(name, expected, limits)))
  const top1Changed = countChanged(expected, found, limits)
  // Written so that NaN is over.
  const isWithin = expected.count === 0 || relL2 <= limits.rel_l2
  const isOver = problem !== null || !isWithin || moved.length > 0 || top1Changed > 0
  return { expected, found, problem, relL2, limit: limits.rel_l2, moved, top1Changed, isOver }
}

function findProblem(expected: OutputFigures, found: OutputFigures): string | null {
  if (formatShape(expected.shape) !== formatShape(found.shape)) {
    return `its shape is ${formatShape(found.shape)}, was ${formatShape(expected.shape)}`
  }
  if (expected.dtype !== found.dtype) return `its element type is ${found.dtype}, was ${expected.dtype}`
  const strange = STRANGE.find((name) => expected[name] !== found[name])
  if (strange === undefined) return null
  const what = { nan: 'NaN', positive_infinity: 'infinite', negative_infinity: 'minus infinite' }[strange]
  return `${found[strange]} of its values are ${what}, ${expected[strange]} were`
}

function allowedMoment(
  name: (typeof MOMENTS)[number],
  expected: OutputFigures,
  { rtol, rel_l2 }: FigureLimits,
): number {
  const share = rel_l2 * expected.rms
  return name === 'mean' || name === 'rms' ? share : Math.max(SPREAD * share, rtol * Math.abs(expected[name]))
}

function countChanged(expected: OutputFigures, found: OutputFigures, { rel_l2 }: FigureLimits): number {
  const [before, now] = [expected.top1, found.top1]
  if (!before || !now || before.ids.length !== now.ids.length) return 0
  const noise = SPREAD * rel_l2 * expected.rms
  return before.ids.filter((id, row) => id !== null && now.ids[row] !== id && !(before.margins[row]! <= noise)).length
}

/** NaN is near NaN alone. */
function isNear(a: number, b: number, allowed: number): boolean {
  return Object.is(a, b) || Math.abs(a - b) <= allowed
}

/** Both signatures, position by position. */
export interface SignatureChange {
  /** Less the smallest number that is none of padding. */
  readonly expected: Signature
  readonly found: Signature
  /** Positions that are over the limit. */
  readonly positions: readonly number[]
  /** What a number of this size may be off. */
  readonly allowed: (value: number) => number
  /** Positions at the start that are not compared. */
  readonly padding: number
}

/** null: there is none to compare with. */
export function compareSignatures(
  expected: Signature | null,
  found: Signature | null,
  outputs: readonly OutputFigures[],
  { rtol, rel_l2 }: FigureLimits,
  padding = 0,
): SignatureChange | null {
  if (!expected || !found || expected.values.length !== found.values.length) return null
  const rms = Math.max(...outputs.filter(({ name }) => expected.of.includes(name)).map((output) => output.rms))
  // A range is a difference of two values, and the smallest range is subtracted.
  const allowed = (value: number) => Math.max(2 * SPREAD * rel_l2 * rms, rtol * Math.abs(value))
  const settled = ({ of, values }: Signature): Signature => ({ of, values: aboveLeast(values, padding) })
  const [before, now] = [settled(expected), settled(found)]
  const positions = before.values.flatMap((value, place) =>
    place < padding || isNear(value, now.values[place]!, allowed(value)) ? [] : [place],
  )
  return { expected: before, found: now, positions, allowed, padding }
}

/** Rows that have a largest value. */
export function countRows({ top1 }: OutputFigures): number {
  return top1?.ids.filter((id) => id !== null).length ?? 0
}
