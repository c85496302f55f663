import { formatNumber } from '../../../domain/text.ts'
import type { OutputFigures } from '../snapshot/schema.ts'
import {
  compareOutput,
  countRows,
  type FigureLimits,
  type OutputChange,
  type SignatureChange,
} from './compare-output.ts'
import { estimateDistance } from './projections.ts'

/** Outputs that are in the snapshot or are given now, but not both. */
export interface LoneOutputs {
  readonly gone: readonly string[]
  readonly fresh: readonly string[]
}

/** What changed, in one sentence. */
export function explainChange(
  changes: readonly OutputChange[],
  signature: SignatureChange | null,
  { gone, fresh }: LoneOutputs,
  limits: FigureLimits,
): string {
  if (gone.length > 0 || fresh.length > 0) return explainLone(gone, fresh)
  const swapped = findSwapped(changes, limits)
  if (swapped) return swapped
  const over = changes.filter(({ isOver }) => isOver)
  const [worst] = over
  if (!worst) return explainSignature(signature!)
  const more = over.length > 1 ? `; ${over.length - 1} more of ${changes.length} outputs changed` : ''
  return `${worst.expected.name}: ${explainOutput(worst, signature)}${more}`
}

function explainLone(gone: readonly string[], fresh: readonly string[]): string {
  const parts = [
    ...(gone.length > 0 ? [`output ${gone.join(', ')} is gone`] : []),
    ...(fresh.length > 0 ? [`output ${fresh.join(', ')} is new`] : []),
  ]
  return parts.join(', ')
}

/** An output of the snapshot that another one gives now, and the other way round. */
function findSwapped(changes: readonly OutputChange[], limits: FigureLimits): string | null {
  const matches = (a: OutputFigures, b: OutputFigures) => !compareOutput(a, b, limits).isOver
  for (const [i, a] of changes.entries()) {
    if (!a.isOver) continue
    const j = changes.findIndex((b, place) => place > i && b.isOver && matches(a.expected, b.found))
    const b = changes[j]
    if (b && matches(b.expected, a.found)) {
      return `outputs ${i} and ${j} are swapped (${a.expected.name} and ${b.expected.name})`
    }
  }
  return null
}

function explainOutput(change: OutputChange, signature: SignatureChange | null): string {
  if (change.problem !== null) return change.problem
  const whole = explainScale(change) ?? explainOffset(change) ?? explainRolled(signature)
  return [whole ?? explainValues(change, signature), ...explainTop1(change)].join('; ')
}

/** Every value was multiplied by the same number. */
function explainScale({ expected, found, limit }: OutputChange): string | null {
  const squares = expected.projections.reduce((sum, value) => sum + value * value, 0)
  const factor = expected.projections.reduce((sum, value, k) => sum + value * found.projections[k]!, 0) / squares
  const norm = expected.rms * Math.sqrt(expected.count)
  const rest = estimateDistance(found.projections, expected.projections, factor)
  const slack = limit + Number.EPSILON
  if (!(rest <= slack * Math.abs(factor) * norm) || Math.abs(factor - 1) <= slack) return null
  return Math.abs(factor + 1) <= slack
    ? 'all values changed sign'
    : `all values are ${formatNumber(factor)} times what they were`
}

/** Every value was moved by the same number: all four moments say so. */
function explainOffset({ expected, found, limit }: OutputChange): string | null {
  const offset = found.mean - expected.mean
  const rms = Math.sqrt(Math.max(0, expected.rms ** 2 + 2 * offset * expected.mean + offset ** 2))
  const slack = 8 * limit * Math.max(expected.rms, found.rms)
  const isOffset = [found.min - expected.min - offset, found.max - expected.max - offset, found.rms - rms].every(
    (off) => Math.abs(off) <= slack,
  )
  if (!isOffset || Math.abs(offset) <= slack) return null
  return `all values are ${offset > 0 ? 'larger' : 'smaller'} by ${formatNumber(Math.abs(offset))}`
}

const MOST_ROLLED = 4
/** Of fewer positions some may agree by chance. */
const LEAST_COMPARED = 8

/** The signature is what it was, some positions further on. */
function explainRolled(signature: SignatureChange | null): string | null {
  if (!signature || signature.positions.length === 0) return null
  const { allowed, padding } = signature
  const [before, now] = [signature.expected, signature.found].map(({ values }) => values.slice(padding))
  const length = before!.length
  if (length < LEAST_COMPARED + MOST_ROLLED) return null
  for (let by = 1; by <= MOST_ROLLED; by++) {
    for (const [early, late, way] of [
      [before!, now!, 'later'],
      [now!, before!, 'earlier'],
    ] as const) {
      const isSame = early.slice(0, length - by).every((value, i) => Math.abs(value - late[i + by]!) <= allowed(value))
      if (isSame) return `its positions come ${by} ${way}`
    }
  }
  return null
}

function explainValues({ moved }: OutputChange, signature: SignatureChange | null): string {
  if (signature && signature.positions.length > 0) return explainSignature(signature)
  const what = moved.length === 0 ? 'values were permuted' : 'values were permuted or changed sign'
  const except = moved.length === 0 ? '' : ` (${moved.join(', ')} changed too)`
  return `projections differ, the signature does not: ${what}${except}`
}

function explainSignature({ positions, expected, found }: SignatureChange): string {
  const [first] = positions
  const [was, is] = [expected, found].map(({ values }) => formatNumber(values[first!]!))
  const more = positions.length > 1 ? ` and ${positions.length - 1} more of ${expected.values.length}` : ''
  return `the signature differs at position ${first}${more}: ${is}, was ${was}`
}

function explainTop1({ expected, top1Changed }: OutputChange): string[] {
  if (top1Changed === 0) return []
  return [`the top-1 id changed at ${top1Changed} of ${countRows(expected)} positions`]
}
