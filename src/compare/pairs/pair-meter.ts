import { valuesPerElement } from '../../tensors/bytes.ts'
import { decodeDifferences, decodeNumbers } from '../../tensors/decode.ts'
import { floatFormat } from '../../tensors/float-format.ts'
import { formatElement } from '../../tensors/format-element.ts'
import type { BlockLimits, PairKernels, StepFormat } from '../kernels/contract.ts'
import * as at from '../kernels/layout.ts'
import { allowedAt } from '../kernels/scalar.ts'
import type { PairChunk } from './pair-chunks.ts'
import { isRepeated, noExtremes, type PairPart } from './pair-statistics.ts'
import { chooseScaling, mayBeBelowUlp, type PairTask, roundedDown, TIGHTER, tightened } from './pair-task.ts'
import { FewNumbers, sumParts } from './quantiles.ts'
import { WorstPlaces } from './worst-places.ts'

const NO_STEPS: StepFormat = { mantissaBits: -1, minExponent: 0 }

/** Up to here target − reference is exact in float32. */
const EXACT_RELATIVE = 0.499

/** Measures chunks of two tensors, in ascending order. */
export class PairMeter {
  readonly #unit: number
  readonly #kind: number | null
  readonly #kernels: PairKernels
  readonly #task: PairTask
  readonly #parts: number
  readonly #format: StepFormat
  readonly #limits: BlockLimits
  readonly #hasSteps: boolean
  readonly #positions = new Uint32Array(at.BLOCK)
  readonly #extremes = noExtremes()
  readonly #worst = new WorstPlaces()
  readonly #fewAbsolute = new FewNumbers()
  readonly #fewRelative = new FewNumbers()
  readonly #mostCounted: number
  #counted = 0
  #absoluteBins: Float64Array = new Float64Array(0)
  #relativeBins: Float64Array = new Float64Array(0)
  #isConstant = true
  #first: PairPart['first'] = null
  #leastAbs = Number.POSITIVE_INFINITY
  #leastRelative = Number.POSITIVE_INFINITY
  #finite = 0
  #relatives = 0

  /** Bins of the kernels hold 32 bits; after `mostCounted` numbers they are emptied. */
  constructor(kernels: PairKernels, task: PairTask, mostCounted = 2 ** 31) {
    const { limits, referenceDType } = task
    kernels.clearBins()
    this.#mostCounted = mostCounted
    this.#kernels = kernels
    this.#task = task
    this.#parts = valuesPerElement(referenceDType)
    this.#format = (limits.ulpDType !== null && floatFormat(limits.ulpDType)) || NO_STEPS
    this.#hasSteps = mayBeBelowUlp(limits)
    this.#limits = { rtol: limits.rtol, constant: limits.constant, ulps: this.#hasSteps ? limits.ulps : 0 }
    const { unit, kind } = chooseScaling(task)
    this.#unit = unit
    this.#kind = kind
  }

  /** Returns the sums of the chunk, at the places of layout.ts. */
  add(chunk: PairChunk): Float64Array {
    const sums = new Float64Array(at.SUMS)
    const count = chunk.elements * this.#parts
    this.#extremes.count += count
    this.#counted += count
    if (this.#counted > this.#mostCounted) this.#emptyBins(count)
    if (this.#isConstant) this.#checkConstant(chunk)
    const scanned = this.#kind === null ? 0 : this.#scan(chunk, this.#kind, sums)
    for (let first = scanned; first < count; first += at.BLOCK) {
      const numbers = Math.min(at.BLOCK, count - first)
      this.#decode(chunk, first, numbers)
      this.#addExactly(chunk, first, numbers, sums)
    }
    this.#worst.describe((element) => [
      formatElement(this.#task.referenceDType, chunk.referenceBytes, element - chunk.first),
      formatElement(this.#task.targetDType, chunk.targetBytes, element - chunk.first),
    ])
    return sums
  }

  #emptyBins(count: number): void {
    this.#absoluteBins = sumParts([this.#kernels.absoluteBins, this.#absoluteBins])
    this.#relativeBins = sumParts([this.#kernels.relativeBins, this.#relativeBins])
    this.#kernels.clearBins()
    this.#counted = count
  }

  /** What was found. */
  part(): PairPart {
    const { absoluteBins, relativeBins } = this.#kernels
    const { maxAbs, maxRelative } = this.#extremes
    const absolute = { count: this.#finite, least: this.#leastAbs, most: maxAbs * this.#unit }
    const relative = { count: this.#relatives, least: this.#leastRelative, most: maxRelative }
    return {
      extremes: this.#extremes,
      isConstant: this.#isConstant,
      first: this.#first,
      absolute: { few: this.#fewAbsolute.all, bins: sumParts([absoluteBins, this.#absoluteBins]), ...absolute },
      relative: { few: this.#fewRelative.all, bins: sumParts([relativeBins, this.#relativeBins]), ...relative },
      worst: this.#worst.places,
    }
  }

  /** Scans whole blocks, and measures skipped and suspicious ones in float64. Returns how many numbers are done. */
  #scan(chunk: PairChunk, kind: number, sums: Float64Array): number {
    const scanner = this.#kernels.scanner!
    const blocks = Math.floor(chunk.elements / at.BLOCK)
    copyInto(scanner.referenceChunk, chunk.referenceBytes)
    copyInto(scanner.targetChunk, chunk.targetBytes)
    const limits = tightened(this.#limits, this.#scannedPart())
    const known = { tie: roundedDown(this.#worst.bar.tie), maxUlp: this.#extremes.maxUlp }
    scanner.scan(kind, blocks, limits, this.#hasSteps, known)
    this.#keepResults(sums)
    for (let block = 0; block < blocks; block++) {
      if (scanner.blockWords[block * at.BLOCK_WORDS + at.WORD_SKIPPED]) {
        scanner.promote(kind, block)
        this.#addExactly(chunk, block * at.BLOCK, at.BLOCK, sums)
      } else if (this.#isSuspect(block) || this.#wantsErrors()) {
        scanner.promote(kind, block)
        this.#look(chunk, block * at.BLOCK, at.BLOCK, null)
        this.#keepErrors(at.BLOCK)
      }
    }
    return blocks * at.BLOCK
  }

  /** The part of the limit above which a place counts, as over the limit or among the worst. */
  #scannedPart(): number {
    const { floor, low } = this.#worst.bar
    return floor > 0 ? 1 : low >= 1 - 1e-12 ? 1 : low
  }

  /** A place over a limit or among the worst, or a maximum that only float64 can tell. */
  #isSuspect(block: number): boolean {
    const { blockWords, blockFloats } = this.#kernels.scanner!
    const extremes = this.#extremes
    const words = block * at.BLOCK_WORDS
    const maxAbs = blockFloats[words + at.WORD_MAX_ABS]!
    const maxRelative = blockFloats[words + at.WORD_MAX_RELATIVE]!
    if (blockWords[words + at.WORD_SUSPECT]) return true
    if (maxRelative > 0 && maxRelative >= extremes.maxRelative * TIGHTER) return true
    if (maxRelative > EXACT_RELATIVE) return maxAbs >= Math.fround(extremes.maxAbs)
    extremes.maxAbs = Math.max(extremes.maxAbs, maxAbs)
    return false
  }

  #decode({ referenceBytes, targetBytes }: PairChunk, first: number, numbers: number): void {
    const { referenceDType, targetDType } = this.#task
    const { reference, target, difference } = this.#kernels
    const [element, elements] = [first / this.#parts, numbers / this.#parts]
    decodeNumbers(referenceDType, referenceBytes, element, elements, reference)
    decodeNumbers(targetDType, targetBytes, element, elements, target)
    if (referenceDType === 'int64' || referenceDType === 'uint64') {
      const [r, t] = [referenceBytes.subarray(element * 8), targetBytes.subarray(element * 8)]
      decodeDifferences(referenceDType, r, t, elements, difference)
    } else {
      this.#kernels.subtract(numbers)
    }
  }

  /** A block that lies decoded in the kernels' memory. */
  #addExactly(chunk: PairChunk, first: number, numbers: number, sums: Float64Array): void {
    const areFinite = this.#kernels.inspect(numbers)
    const finite = areFinite ? numbers : this.#sortOutNonFinite(chunk, first, numbers)
    this.#kernels.addUp(finite, this.#unit, this.#format, this.#hasSteps)
    this.#kernels.results[at.SUM_FINITE] = finite
    this.#keepResults(sums)
    this.#keepErrors(finite)
    this.#look(chunk, first, finite, finite === numbers ? null : this.#positions)
  }

  #keepResults(sums: Float64Array): void {
    const { results } = this.#kernels
    const extremes = this.#extremes
    for (let i = 0; i < at.SUMS; i++) sums[i]! += results[i]!
    this.#finite += results[at.SUM_FINITE]!
    this.#relatives += results[at.SUM_RELATIVE_COUNT]!
    this.#leastAbs = Math.min(this.#leastAbs, results[at.LEAST_ABS]!)
    this.#leastRelative = Math.min(this.#leastRelative, results[at.LEAST_RELATIVE]!)
    extremes.different += results[at.DIFFERENT]!
    extremes.maxReference = Math.max(extremes.maxReference, results[at.MAX_REFERENCE]!)
    extremes.maxUlp = Math.max(extremes.maxUlp, results[at.MAX_ULP]!)
  }

  #checkConstant(chunk: PairChunk): void {
    const first = this.#first ?? this.#decodeFirst(chunk, 1)
    this.#first = first
    // Most tensors are soon seen not to be constant.
    for (const elements of [Math.min(64, chunk.elements), chunk.elements]) {
      const { reference, target } = this.#decodeFirst(chunk, elements)
      this.#isConstant = isRepeated(first.reference, reference) && isRepeated(first.target, target)
      if (!this.#isConstant) return
    }
  }

  #decodeFirst({ referenceBytes, targetBytes }: PairChunk, elements: number) {
    const reference = new Float64Array(elements * this.#parts)
    const target = new Float64Array(elements * this.#parts)
    decodeNumbers(this.#task.referenceDType, referenceBytes, 0, elements, reference)
    decodeNumbers(this.#task.targetDType, targetBytes, 0, elements, target)
    return { reference, target }
  }

  /** Moves finite pairs to the front and returns how many there are. */
  #sortOutNonFinite(chunk: PairChunk, first: number, numbers: number): number {
    const { reference, target, difference } = this.#kernels
    let finite = 0
    for (let i = 0; i < numbers; i++) {
      const r = reference[i]!
      const t = target[i]!
      if (r - r === 0 && t - t === 0) {
        reference[finite] = r
        target[finite] = t
        difference[finite] = difference[i]!
        this.#positions[finite++] = i
      } else {
        this.#countNonFinite(r, t, this.#elementOf(chunk, first + i))
      }
    }
    return finite
  }

  #countNonFinite(r: number, t: number, element: number): void {
    const extremes = this.#extremes
    if (Number.isNaN(r)) extremes.nanReference++
    else if (!Number.isFinite(r)) extremes.infReference++
    if (Number.isNaN(t)) extremes.nanTarget++
    else if (!Number.isFinite(t)) extremes.infTarget++
    if (Object.is(r, t)) return
    extremes.nonFiniteMismatches++
    extremes.different++
    extremes.overLimit++
    const error = Math.abs(t - r)
    if (this.#worst.wants(error, 0, element)) this.#worst.add(element, error, 0)
  }

  #elementOf(chunk: PairChunk, number: number): number {
    return chunk.first + Math.floor(number / this.#parts)
  }

  /** Counts who is over a limit and keeps the worst; `positions` says where the numbers lie in the block. */
  #look(chunk: PairChunk, first: number, numbers: number, positions: Uint32Array | null): void {
    const { results, candidates, reference, difference } = this.#kernels
    const extremes = this.#extremes
    const worst = this.#worst
    this.#kernels.look(numbers, this.#limits, this.#format, worst.bar)
    extremes.overLimit += results[at.OVER_LIMIT]!
    extremes.neededConstant = Math.max(extremes.neededConstant, results[at.NEEDED_CONSTANT]!)
    extremes.maxAbs = Math.max(extremes.maxAbs, results[at.MAX_ABS]!)
    extremes.maxRelative = Math.max(extremes.maxRelative, results[at.MAX_RELATIVE]!)
    for (let i = 0; i < results[at.CANDIDATE_COUNT]!; i++) {
      const position = candidates[i]!
      const error = Math.abs(difference[position]!)
      const allowed = allowedAt(reference[position]!, this.#limits, this.#format)
      const element = this.#elementOf(chunk, first + (positions?.[position] ?? position))
      if (worst.wants(error, allowed, element)) worst.add(element, error, allowed)
    }
  }

  #wantsErrors(): boolean {
    return this.#fewAbsolute.all !== null || this.#fewRelative.all !== null
  }

  /** Few errors are kept as they are. */
  #keepErrors(numbers: number): void {
    if (!this.#wantsErrors()) return
    const { reference, difference } = this.#kernels
    const errors = new Float64Array(numbers)
    const relative = new Float64Array(numbers)
    let relatives = 0
    for (let i = 0; i < numbers; i++) {
      errors[i] = Math.abs(difference[i]!) * this.#unit
      if (reference[i] !== 0) relative[relatives++] = Math.abs(difference[i]!) / Math.abs(reference[i]!)
    }
    this.#fewAbsolute.add(errors)
    this.#fewRelative.add(relative.subarray(0, relatives))
  }
}

function copyInto(memory: Uint8Array, bytes: Uint8Array): void {
  if (bytes.buffer !== memory.buffer) memory.set(bytes)
}
