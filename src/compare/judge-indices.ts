import { dtypeKind } from '../domain/dtype.ts'
import type { OutputResult } from '../domain/result.ts'
import { elementCount, type TensorSource } from '../domain/tensor.ts'
import { decodeNumbers } from '../tensors/decode.ts'
import { formatElement } from '../tensors/format-element.ts'
import type { Rule, TensorContext } from './contract.ts'
import { type IndexLayout, planIndexLayout } from './index-layout.ts'
import { judgeNumbers } from './judge-numbers.ts'
import { metricMaker } from './pairs/metrics.ts'
import { WorstPlaces } from './pairs/worst-places.ts'
import { describeRule } from './rules/rule-text.ts'
import { readWhole, SelectedValues } from './selected-values.ts'

type IndexRule = Extract<Rule, { kind: 'index' }>

const LARGEST_IN_MEMORY = 256 * 2 ** 20

/**
 * Judges indices by the values that they select from the reference's own indexed tensor, so that a tie may be broken
 * either way. Without that tensor, or if it is too large to hold, they are judged exactly and flagged.
 */
export async function judgeIndices(
  reference: TensorSource,
  target: TensorSource,
  rule: IndexRule,
  context: TensorContext,
): Promise<OutputResult> {
  const { indexed } = context
  const layout = indexed && planIndexLayout(rule.selection, indexed.shape, reference.shape)
  if (!indexed || !layout || !isReadable(reference, target, indexed)) {
    const exact = { kind: 'exact', source: `indices of ${rule.selection.op}`, flags: ['indices-exact'] } as const
    return judgeNumbers(reference, target, exact, context)
  }
  const values = await SelectedValues.read(indexed, rule.tolerance)
  const sides = { reference: await readIndices(reference, 'reference'), target: await readIndices(target, 'target') }
  const findings = compareSelections(sides, values, layout, rule.selection.last ?? false)
  return resultOf(reference, rule, values.hasScale, findings)
}

function isReadable(reference: TensorSource, target: TensorSource, indexed: TensorSource): boolean {
  const isSmall = [reference, target, indexed].every((source) => source.byteLength <= LARGEST_IN_MEMORY)
  const isWhole = ['int', 'uint'].includes(dtypeKind(reference.dtype))
  return isSmall && isWhole && ['float', 'int', 'uint', 'bool'].includes(dtypeKind(indexed.dtype))
}

interface Indices {
  readonly numbers: Float64Array
  readonly textAt: (element: number) => string
}

async function readIndices(source: TensorSource, side: 'reference' | 'target'): Promise<Indices> {
  const bytes = await readWhole(source, side)
  const numbers = new Float64Array(elementCount(source.shape))
  decodeNumbers(source.dtype, bytes, 0, numbers.length, numbers)
  return { numbers, textAt: (element) => formatElement(source.dtype, bytes, element) }
}

interface Findings {
  readonly count: number
  readonly worst: WorstPlaces
  readonly outOfRange: number
  readonly repeated: number
  /** Other numbers than the reference's. */
  readonly different: number
  /** Those that select a value too far from the reference's, or not the last of equal ones. */
  readonly mismatches: number
  readonly notLast: number
  readonly maxDistance: number
}

interface Sides {
  readonly reference: Indices
  readonly target: Indices
}

function compareSelections(sides: Sides, values: SelectedValues, layout: IndexLayout, last: boolean): Findings {
  const worst = new WorstPlaces()
  const count = sides.reference.numbers.length
  let [different, mismatches, notLast, outOfRange, maxDistance] = [0, 0, 0, 0, 0]
  for (let element = 0; element < count; element++) {
    if (isSameIndex(sides, element)) continue
    const choice = compareChoice(sides, values, layout, element)
    different++
    const isNotLast = last && choice.isTie
    if (choice.isOutOfRange) outOfRange++
    if (isNotLast) notLast++
    if (isNotLast || !(choice.distance <= choice.allowed)) mismatches++
    if (!(choice.distance <= maxDistance)) maxDistance = choice.distance
    const error = isNotLast ? apart(sides, element) : choice.distance
    const allowed = isNotLast ? 0 : choice.allowed
    if (!worst.wants(error, allowed)) continue
    worst.add(element, error, allowed)
    worst.describe((at) => [
      showIndex(sides.reference, at, values, layout),
      showIndex(sides.target, at, values, layout),
    ])
  }
  return {
    count,
    worst,
    outOfRange,
    repeated: countRepeated(sides, values.count, layout),
    different,
    mismatches,
    notLast,
    maxDistance,
  }
}

/** Numbers beyond 2^53 are rounded; their texts are exact. */
function isSameIndex({ reference, target }: Sides, element: number): boolean {
  const index = reference.numbers[element]!
  if (index !== target.numbers[element]) return false
  return Number.isSafeInteger(index) || reference.textAt(element) === target.textAt(element)
}

function compareChoice({ reference, target }: Sides, values: SelectedValues, layout: IndexLayout, element: number) {
  const place = layout.placeOf(reference.numbers, element)
  const otherPlace = layout.placeOf(target.numbers, element)
  const isOutOfRange = otherPlace === null
  if (!layout.selects(element) || place === null || isOutOfRange) {
    return { isOutOfRange, isTie: false, distance: Number.POSITIVE_INFINITY, allowed: 0 }
  }
  const distance = values.distance(place, otherPlace)
  return { isOutOfRange, isTie: distance === 0 && !values.isNaN(place), distance, allowed: values.allowedAt(place) }
}

/** For a tie broken the wrong way, only the indices differ. */
function apart({ reference, target }: Sides, element: number): number {
  return Math.abs(reference.numbers[element]! - target.numbers[element]!)
}

/** How often the target repeats a selection; 0 if the reference repeats selections too. */
function countRepeated({ reference, target }: Sides, places: number, layout: IndexLayout): number {
  return repeatsIn(reference.numbers, places, layout) > 0 ? 0 : repeatsIn(target.numbers, places, layout)
}

function repeatsIn(indices: Float64Array, places: number, layout: IndexLayout): number {
  const seen = new Uint8Array(Math.ceil(places / 8))
  let repeats = 0
  for (let element = 0; element < indices.length; element++) {
    const place = layout.selects(element) ? layout.placeOf(indices, element) : null
    if (place === null) continue
    const [at, bit] = [Math.floor(place / 8), 1 << (place % 8)]
    if (seen[at]! & bit) repeats++
    seen[at]! |= bit
  }
  return repeats
}

function showIndex(side: Indices, element: number, values: SelectedValues, layout: IndexLayout): string {
  const text = side.textAt(element)
  if (!layout.selects(element)) return text
  const place = layout.placeOf(side.numbers, element)
  return place === null ? `${text} (out of range)` : `${text} (selects ${values.format(place)})`
}

function resultOf(reference: TensorSource, rule: IndexRule, hasScale: boolean, findings: Findings): OutputResult {
  const { count, mismatches, worst } = findings
  const faults = faultsOf(rule, findings)
  return {
    name: reference.name,
    dtype: reference.dtype,
    shape: reference.shape,
    verdict: faults.length === 0 ? 'pass' : 'fail',
    rule: describeRule(rule, hasScale),
    ...(faults.length === 0 ? {} : { reason: faults.join('; ') }),
    flags: [],
    metrics: metricsOf(rule, findings),
    mismatches: { count: mismatches, of: count, allowed: Math.floor(rule.tolerance.allowedMismatch * count) },
    worst: worst.list(reference.name, reference.shape),
  }
}

function faultsOf(rule: IndexRule, { count, outOfRange, repeated, mismatches, notLast }: Findings): string[] {
  const faults: string[] = []
  if (outOfRange > 0) faults.push(`${outOfRange} of ${count} indices are out of range`)
  if (repeated > 0) faults.push(`${repeated} of ${count} indices select a place twice`)
  if (mismatches === 0 || mismatches / count <= rule.tolerance.allowedMismatch) return faults
  if (notLast > 0)
    faults.push(
      `${notLast} of ${count} indices select an earlier one of several equal values, expected the last (select_last_index)`,
    )
  if (mismatches > notLast) faults.push(`${mismatches - notLast} of ${count} indices select another value`)
  return faults
}

function metricsOf(rule: IndexRule, { count, outOfRange, repeated, mismatches, different, maxDistance }: Findings) {
  const provenance = rule.source
  const make = metricMaker({
    mismatch_fraction: { threshold: rule.tolerance.allowedMismatch, provenance },
    index_out_of_range: { threshold: 0, provenance },
    index_repeated: { threshold: 0, provenance },
  })
  return [
    make('mismatch_fraction', 'lower', count === 0 ? 0 : mismatches / count, count),
    make('index_different', 'lower', different, count),
    make('index_out_of_range', 'lower', outOfRange, count),
    make('index_repeated', 'lower', repeated, count),
    make('max_selected_abs', 'lower', maxDistance, count),
  ]
}
