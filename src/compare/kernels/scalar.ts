import { findExponent, powerOfTwo } from '../../tensors/float-format.ts'
import { maxStepsBetween } from '../../tensors/ulp.ts'
import type { Bar } from '../pairs/worst-places.ts'
import type { BlockLimits, PairKernels, StepFormat } from './contract.ts'
import * as at from './layout.ts'
import * as found from './survey-layout.ts'

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** The referee: plain float64 loops. Sums go round four partial ones, as the lanes of the other kernels do. */
export class ScalarKernels implements PairKernels {
  readonly name = 'scalar'
  readonly scanner = null
  readonly reference = new Float64Array(at.BLOCK + 1)
  readonly target = new Float64Array(at.BLOCK + 1)
  readonly difference = new Float64Array(at.BLOCK + 1)
  readonly squares = new Float64Array(at.BLOCK)
  readonly results = new Float64Array(at.RESULT_COUNT)
  readonly candidates = new Int32Array(at.BLOCK)
  readonly absoluteBins = new Uint32Array(at.BINS)
  readonly relativeBins = new Uint32Array(at.BINS)

  clearBins(): void {
    this.absoluteBins.fill(0)
    this.relativeBins.fill(0)
  }

  subtract(count: number): void {
    const { reference, target, difference } = this
    for (let i = 0; i < count; i++) difference[i] = target[i]! - reference[i]!
  }

  inspect(count: number): boolean {
    const { reference, target, results } = this
    let [areFinite, maxReference] = [true, 0]
    for (let i = 0; i < count; i++) {
      const magnitude = Math.abs(reference[i]!)
      if (magnitude > maxReference && magnitude !== Number.POSITIVE_INFINITY) maxReference = magnitude
      if (magnitude - magnitude !== 0 || target[i]! - target[i]! !== 0) areFinite = false
    }
    results[at.MAX_REFERENCE] = maxReference
    return areFinite
  }

  survey(count: number, last: number): void {
    this.subtract(count)
    const { reference, target, difference, squares, results } = this
    for (let i = 0; i < count; i++) squares[i] = difference[i]! * difference[i]!
    results[found.SUM_R] = sumOf(reference, count)
    results[found.SUM_D] = sumOf(difference, count)
    results[found.SUM_RR] = sumOfProducts(reference, reference, count, 1)
    results[found.SUM_DD] = sumOfProducts(difference, difference, count, 1)
    results[found.SUM_DR] = sumOfProducts(difference, reference, count, 1)
    let [neighbours, before] = [0, last]
    for (let i = 0; i < count; i++) {
      neighbours += difference[i]! * before
      before = difference[i]!
    }
    results[found.SUM_NEIGHBOURS] = neighbours
    putMoments(reference, count, results, found.MOMENTS_REFERENCE)
    putMoments(target, count, results, found.MOMENTS_TARGET)
  }

  addUp(count: number, unit: number, format: StepFormat, hasSteps: boolean): void {
    const { reference, target, difference, results } = this
    results[at.SUM_ABS] = sumOfMagnitudes(difference, count, unit)
    results[at.SUM_DIFFERENCE] = sumOfProducts(difference, difference, count, unit)
    results[at.SUM_REFERENCE] = sumOfProducts(reference, reference, count, unit)
    results[at.SUM_TARGET] = sumOfProducts(target, target, count, unit)
    results[at.SUM_PRODUCT] = sumOfProducts(difference, reference, count, unit)
    results[at.SUM_HALF_ULP] = hasSteps ? sumOfHalfSteps(reference, count, unit, format) : 0
    results[at.MAX_ULP] = format.mantissaBits < 0 ? 0 : maxStepsBetween(format, reference, target, count)
    this.#addErrors(count, unit)
  }

  /** Relative errors are those of places where the reference is not zero. */
  #addErrors(count: number, unit: number): void {
    const { reference, difference, results, absoluteBins, relativeBins } = this
    let [maxAbs, leastAbs, maxRelative, leastRelative] = [0, Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY]
    let [different, sum, relatives] = [0, 0, 0]
    for (let i = 0; i < count; i++) {
      const error = Math.abs(difference[i]!)
      if (error !== 0) different++
      if (error > maxAbs) maxAbs = error
      if (error * unit < leastAbs) leastAbs = error * unit
      countInto(absoluteBins, error * unit)
      if (reference[i] === 0) continue
      const relative = error / Math.abs(reference[i]!)
      if (relative > maxRelative) maxRelative = relative
      if (relative < leastRelative) leastRelative = relative
      countInto(relativeBins, relative)
      sum += relative
      relatives++
    }
    results[at.DIFFERENT] = different
    results[at.MAX_ABS] = maxAbs
    results[at.LEAST_ABS] = leastAbs
    results[at.MAX_RELATIVE] = maxRelative
    results[at.LEAST_RELATIVE] = leastRelative
    results[at.SUM_RELATIVE] = sum
    results[at.SUM_RELATIVE_COUNT] = relatives
  }

  look(count: number, limits: BlockLimits, format: StepFormat, { floor, high, low, tie }: Bar): void {
    const { reference, difference, results, candidates } = this
    let [overLimit, needed, listed] = [0, 0, 0]
    for (let i = 0; i < count; i++) {
      const error = Math.abs(difference[i]!)
      const part = limits.rtol * Math.abs(reference[i]!)
      const allowed = allowedAt(reference[i]!, limits, format)
      // An infinite error (of float64 numbers near their end) is over even a limit that overflowed itself.
      if (!(error <= allowed) || error === Number.POSITIVE_INFINITY) {
        overLimit++
        if (error - part > needed) needed = error - part
      }
      if (error <= floor || error < low * allowed) continue
      if (!(error <= high * allowed) || error > tie) candidates[listed++] = i
    }
    results[at.OVER_LIMIT] = overLimit
    results[at.NEEDED_CONSTANT] = needed
    results[at.CANDIDATE_COUNT] = listed
  }
}

/** How far a finite number may be off. */
export function allowedAt(reference: number, limits: BlockLimits, format: StepFormat): number {
  const limit = limits.rtol * Math.abs(reference) + limits.constant
  return limits.ulps === 0 ? limit : Math.max(limit, limits.ulps * stepAt(reference, format))
}

function stepAt(value: number, { mantissaBits, minExponent }: StepFormat): number {
  return powerOfTwo(Math.max(findExponent(value), minExponent) - mantissaBits)
}

function halfStep(value: number, unit: number, format: StepFormat): number {
  return (stepAt(value, format) / 2) * unit
}

function sumOf(a: Float64Array, count: number): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum += a[i]!
  return sum
}

function putMoments(numbers: Float64Array, count: number, results: Float64Array, place: number): void {
  const mean = sumOf(numbers, count) / count
  let [squares, least, most] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!
    squares += (number - mean) ** 2
    if (number < least) least = number
    if (number > most) most = number
  }
  results[place] = mean
  results[place + 1] = squares
  results[place + 2] = least
  results[place + 3] = most
}

function sumOfMagnitudes(a: Float64Array, count: number, unit: number): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0]
  const whole = count - (count % 4)
  for (let i = 0; i < whole; i += 4) {
    s0 += Math.abs(a[i]! * unit)
    s1 += Math.abs(a[i + 1]! * unit)
    s2 += Math.abs(a[i + 2]! * unit)
    s3 += Math.abs(a[i + 3]! * unit)
  }
  let sum = s0 + s1 + (s2 + s3)
  for (let i = whole; i < count; i++) sum += Math.abs(a[i]! * unit)
  return sum
}

function sumOfProducts(a: Float64Array, b: Float64Array, count: number, unit: number): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0]
  const whole = count - (count % 4)
  for (let i = 0; i < whole; i += 4) {
    s0 += a[i]! * unit * (b[i]! * unit)
    s1 += a[i + 1]! * unit * (b[i + 1]! * unit)
    s2 += a[i + 2]! * unit * (b[i + 2]! * unit)
    s3 += a[i + 3]! * unit * (b[i + 3]! * unit)
  }
  let sum = s0 + s1 + (s2 + s3)
  for (let i = whole; i < count; i++) sum += a[i]! * unit * (b[i]! * unit)
  return sum
}

/** Squared and added up. */
function sumOfHalfSteps(reference: Float64Array, count: number, unit: number, format: StepFormat): number {
  const sums = new Float64Array(4)
  const whole = count - (count % 4)
  for (let i = 0; i < whole; i++) sums[i % 4]! += halfStep(reference[i]!, unit, format) ** 2
  let sum = sums[0]! + sums[1]! + (sums[2]! + sums[3]!)
  for (let i = whole; i < count; i++) sum += halfStep(reference[i]!, unit, format) ** 2
  return sum
}

function countInto(bins: Uint32Array, error: number): void {
  float[0] = error
  bins[bits[0]! >>> 16]!++
}
