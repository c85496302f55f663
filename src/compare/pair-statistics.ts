import type { DType } from '../domain/dtype.ts'
import { exponentOf, powerOfTwo } from '../tensors/float-format.ts'
import { maxUlpDistance, relativeUlp, ulpSize } from '../tensors/ulp.ts'
import type { PairBlock } from './pair-blocks.ts'
import { Quantiles } from './quantiles.ts'
import { WorstPlaces } from './worst-places.ts'

/** A place is over its limit unless |t − r| ≤ rtol·|r| + constant, or within `ulps` steps of the storage dtype. */
export interface PairLimits {
  readonly rtol: number
  readonly constant: number
  /** Limit of ‖t − r‖ / ‖r‖, where there is one. */
  readonly relL2: number | null
  readonly ulps: number
  /** null for integers. */
  readonly ulpDType: DType | null
}

/** Sums over pairs of finite numbers; squares are of numbers times `unit`, a power of two, so that none over- or underflows. */
interface Sums {
  finite: number
  abs: number
  difference: number
  reference: number
  target: number
  product: number
  halfUlp: number
  relative: number
  relativeCount: number
}

/** Everything one pass over two tensors measures. Numbers that are not finite are counted and kept out of the sums. */
export class PairStatistics {
  count = 0
  different = 0
  overLimit = 0
  nonFiniteMismatches = 0
  nanReference = 0
  nanTarget = 0
  infReference = 0
  infTarget = 0
  maxReference = 0
  maxAbs = 0
  maxRelative = 0
  maxUlp = 0
  isConstant = true
  /** What the constant of the limits would have had to be. */
  neededConstant = 0
  readonly sums: Sums = {
    finite: 0,
    abs: 0,
    difference: 0,
    reference: 0,
    target: 0,
    product: 0,
    halfUlp: 0,
    relative: 0,
    relativeCount: 0,
  }
  readonly absQuantiles = new Quantiles()
  readonly relativeQuantiles = new Quantiles()
  readonly worst = new WorstPlaces()
  readonly limits: PairLimits
  readonly unit: number
  readonly #needsUlps: boolean
  /** Where the finite pairs of a block lie in it. */
  #positions = new Uint32Array(0)
  #errors = new Float64Array(0)
  /** The first element of both sides. */
  #first: { readonly reference: Float64Array; readonly target: Float64Array } | null = null

  constructor(limits: PairLimits, maxReference: number) {
    this.limits = limits
    this.unit = unitFor(maxReference)
    this.#needsUlps = mayBeBelowUlp(limits)
  }

  add(block: PairBlock): void {
    this.count += block.count
    if (this.isConstant) this.#checkConstant(block)
    const finite = this.#sortOutNonFinite(block)
    this.#addSums(block, finite)
    this.#addErrors(block, finite)
    this.#checkLimits(block, finite)
    const { ulpDType } = this.limits
    if (ulpDType !== null) {
      this.maxUlp = Math.max(this.maxUlp, maxUlpDistance(ulpDType, block.reference, block.target, finite))
    }
  }

  #checkConstant({ reference, target, count, elements }: PairBlock): void {
    const parts = count / elements
    this.#first ??= { reference: reference.slice(0, parts), target: target.slice(0, parts) }
    this.isConstant =
      isRepeated(this.#first.reference, reference, count) && isRepeated(this.#first.target, target, count)
  }

  /** Moves finite pairs to the front and returns how many there are. */
  #sortOutNonFinite(block: PairBlock): number {
    const { reference, target, difference, count } = block
    if (this.#positions.length < count) {
      this.#positions = new Uint32Array(count)
      this.#errors = new Float64Array(count)
    }
    let finite = 0
    for (let i = 0; i < count; i++) {
      const r = reference[i]!
      const t = target[i]!
      const magnitude = Math.abs(r)
      if (magnitude > this.maxReference && magnitude !== Number.POSITIVE_INFINITY) this.maxReference = magnitude
      if (r - r === 0 && t - t === 0) {
        reference[finite] = r
        target[finite] = t
        difference[finite] = difference[i]!
        this.#positions[finite++] = i
      } else {
        this.#countNonFinite(r, t, this.#elementOf(block, i))
      }
    }
    return finite
  }

  #countNonFinite(r: number, t: number, element: number): void {
    if (Number.isNaN(r)) this.nanReference++
    else if (!Number.isFinite(r)) this.infReference++
    if (Number.isNaN(t)) this.nanTarget++
    else if (!Number.isFinite(t)) this.infTarget++
    if (Object.is(r, t)) return
    this.nonFiniteMismatches++
    this.different++
    this.overLimit++
    const error = Math.abs(t - r)
    if (this.worst.wants(error, 0)) this.worst.add(element, error, 0)
  }

  #elementOf(block: PairBlock, position: number): number {
    return block.first + Math.floor((position * block.elements) / block.count)
  }

  #addSums(block: PairBlock, finite: number): void {
    const { reference, target, difference } = block
    const { unit, sums } = this
    const errors = this.#errors
    let [abs, dd, rr, tt, dr] = [0, 0, 0, 0, 0]
    for (let i = 0; i < finite; i++) {
      const d = difference[i]! * unit
      const r = reference[i]! * unit
      const t = target[i]! * unit
      errors[i] = Math.abs(d)
      abs += Math.abs(d)
      dd += d * d
      rr += r * r
      tt += t * t
      dr += d * r
    }
    this.absQuantiles.add(errors.subarray(0, finite))
    sums.finite += finite
    sums.abs += abs
    sums.difference += dd
    sums.reference += rr
    sums.target += tt
    sums.product += dr
  }

  /** Relative errors are those of places where the reference is not zero. */
  #addErrors({ reference, difference }: PairBlock, finite: number): void {
    const errors = this.#errors
    let [maxAbs, maxRelative, sum, different, relatives] = [this.maxAbs, this.maxRelative, 0, 0, 0]
    for (let i = 0; i < finite; i++) {
      const error = Math.abs(difference[i]!)
      if (error !== 0) different++
      if (error > maxAbs) maxAbs = error
      if (reference[i] === 0) continue
      const relative = error / Math.abs(reference[i]!)
      if (relative > maxRelative) maxRelative = relative
      sum += relative
      errors[relatives++] = relative
    }
    this.relativeQuantiles.add(errors.subarray(0, relatives))
    this.maxAbs = maxAbs
    this.maxRelative = maxRelative
    this.different += different
    this.sums.relative += sum
    this.sums.relativeCount += relatives
  }

  #checkLimits(block: PairBlock, finite: number): void {
    const { reference, difference } = block
    const { rtol, constant } = this.limits
    const { worst } = this
    for (let i = 0; i < finite; i++) {
      const error = Math.abs(difference[i]!)
      if (error === 0 && !this.#needsUlps) continue
      const relativePart = rtol * Math.abs(reference[i]!)
      const allowed = this.#needsUlps
        ? this.#raiseToUlps(relativePart + constant, reference[i]!)
        : relativePart + constant
      // An infinite error (of float64 numbers near their end) is over even a limit that overflowed itself.
      if (!(error <= allowed) || error === Number.POSITIVE_INFINITY) {
        this.overLimit++
        this.neededConstant = Math.max(this.neededConstant, error - relativePart)
      }
      if (error !== 0 && !(error <= worst.bar * allowed) && worst.wants(error, allowed)) {
        worst.add(this.#elementOf(block, this.#positions[i]!), error, allowed)
      }
    }
  }

  #raiseToUlps(allowed: number, reference: number): number {
    const size = ulpSize(this.limits.ulpDType!, reference)
    const half = (size / 2) * this.unit
    this.sums.halfUlp += half * half
    return Math.max(allowed, this.limits.ulps * size)
  }
}

function isRepeated(first: Float64Array, numbers: Float64Array, count: number): boolean {
  for (let i = 0; i < count; i++) {
    const wanted = first[i % first.length]!
    if (numbers[i] !== wanted && !(Number.isNaN(numbers[i]) && Number.isNaN(wanted))) return false
  }
  return true
}

function unitFor(maxReference: number): number {
  if (maxReference === 0) return 1
  return powerOfTwo(Math.min(1000, Math.max(-1000, -exponentOf(maxReference))))
}

/** Whether a step of the storage dtype can be larger than the limits; in float32 it practically never is. */
function mayBeBelowUlp({ rtol, constant, relL2, ulps, ulpDType }: PairLimits): boolean {
  if (ulps === 0 || ulpDType === null) return false
  const step = ulps * relativeUlp(ulpDType)
  return !(step < 1e-6 && rtol >= step && constant >= ulps * ulpSize(ulpDType, 0) && (relL2 === null || relL2 >= step))
}
