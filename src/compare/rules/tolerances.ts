import { DTYPES, type DType } from '../../domain/dtype.ts'
import { UsageError } from '../../domain/errors.ts'
import type { Arithmetic, ComputeDType, Rule, Tolerance, ToleranceScope } from '../contract.ts'

type Limits = Pick<Tolerance, 'rtol' | 'scale' | 'relL2' | 'floor'>

/*
 * THE tolerance table. u is the unit roundoff of the compute dtype (half an ulp of 1): float64 1.1e-16, float32 6.0e-8,
 * float16 4.9e-4, bfloat16 3.9e-3, e4m3 6.3e-2, e5m2 1.3e-1.
 *
 * Evidence, row by row. "Start" marks a value that was reasoned and not measured yet.
 * - float32: 14 real models (Silero VAD, PaddleOCR, openWakeWord) on meaningful inputs, onnxruntime 1.30 native against
 *   WebAssembly, one thread: worst error 1.7e-5 of max|r| (PaddleOCR's detector), worst relL2 8.5e-6 (a wake word), so
 *   1e-4 leaves sixfold and tenfold room. What it still catches: docs/planted-faults.md. Layers: 3,621 of nine models
 *   (PaddleOCR, Silero, Moonshine, ddddocr), the same two: all but long sums and Sigmoid within relL2 1.2e-6, so 1e-5
 *   leaves eightfold room.
 * - int8: Moonshine's decoder moves by relL2 7e-7 between the two. Its encoder moves by 3.4e-2 (on 35 other inputs 2e-7 or
 *   2e-2 to 8e-2), and by as much when one activation is rounded the other way: wider limits would pass faults of that
 *   size, so it is left to the sensitivity band.
 *   One of 127 steps is 8e-3 of the scale. Layers: start.
 * - float64: start. relL2 must stay below 2e-8, the error of a float64 result that was computed in float32.
 * - float16, bfloat16: start; models about 20 u in float16 and 13 u in bfloat16. Layers a few u: inputs and output are
 *   each rounded once (u each), sums are kept wider.
 * - float8: start. Tenfold tighter for layers is not possible, a single rounding is already u.
 * - floor (single elements, all-zero references): start. A scalar of 1e-6 that is 1 % off is an error of 1e-8 and has to
 *   fail in float32, so its floor lies below that.
 */
const TABLE: Readonly<Record<ComputeDType, Readonly<Record<ToleranceScope, Limits>>>> = {
  float64: {
    model: { rtol: 1e-8, scale: 1e-9, relL2: 1e-9, floor: 1e-15 },
    layer: { rtol: 1e-9, scale: 1e-10, relL2: 1e-10, floor: 1e-16 },
  },
  float32: {
    model: { rtol: 1e-3, scale: 1e-4, relL2: 1e-4, floor: 1e-9 },
    layer: { rtol: 1e-4, scale: 1e-5, relL2: 1e-5, floor: 1e-10 },
  },
  float16: {
    model: { rtol: 1e-2, scale: 1e-2, relL2: 1e-2, floor: 1e-7 },
    layer: { rtol: 2e-3, scale: 2e-3, relL2: 2e-3, floor: 1e-8 },
  },
  bfloat16: {
    model: { rtol: 5e-2, scale: 5e-2, relL2: 5e-2, floor: 1e-7 },
    layer: { rtol: 1e-2, scale: 1e-2, relL2: 1e-2, floor: 1e-8 },
  },
  int8: {
    model: { rtol: 1e-2, scale: 1e-2, relL2: 1e-2, floor: 1e-7 },
    layer: { rtol: 5e-3, scale: 5e-3, relL2: 5e-3, floor: 1e-8 },
  },
  float8e4m3fn: {
    model: { rtol: 0.15, scale: 0.1, relL2: 0.1, floor: 1e-6 },
    layer: { rtol: 6.25e-2, scale: 5e-2, relL2: 5e-2, floor: 1e-7 },
  },
  float8e4m3fnuz: {
    model: { rtol: 0.15, scale: 0.1, relL2: 0.1, floor: 1e-6 },
    layer: { rtol: 6.25e-2, scale: 5e-2, relL2: 5e-2, floor: 1e-7 },
  },
  float8e5m2: {
    model: { rtol: 0.25, scale: 0.15, relL2: 0.15, floor: 1e-6 },
    layer: { rtol: 0.125, scale: 0.1, relL2: 0.1, floor: 1e-7 },
  },
  float8e5m2fnuz: {
    model: { rtol: 0.25, scale: 0.15, relL2: 0.15, floor: 1e-6 },
    layer: { rtol: 0.125, scale: 0.1, relL2: 0.1, floor: 1e-7 },
  },
}

/** Precisions with a row of their own, coarser last. */
export const PRECISIONS: readonly ComputeDType[] = [
  'float64',
  'float32',
  'float16',
  'bfloat16',
  'int8',
  'float8e4m3fn',
  'float8e4m3fnuz',
  'float8e5m2',
  'float8e5m2fnuz',
]

/** The table's limits for what a target computes in; the 8- and 4-bit integers share the row of int8. */
export function toleranceFor(dtype: DType, scope: ToleranceScope, { terms, aroundOne }: Arithmetic = PLAIN): Tolerance {
  const limits = TABLE[rowOf(dtype)][scope]
  const sums = sumLimit(dtype, terms)
  const rounding = aroundOne ? ROUNDINGS_AROUND_ONE * unitRoundoff(dtype) : 0
  const [rtol, scale] = [Math.max(limits.rtol, sums), Math.max(limits.scale, sums)]
  const relL2 = limits.relL2 === null ? null : Math.max(limits.relL2, sums)
  return { ...limits, rtol, scale, relL2, rounding, atol: 0, allowedMismatch: 0, storageUlps: 1 }
}

const PLAIN: Arithmetic = { terms: 1, aroundOne: false }

/**
 * onnxruntime's Sigmoid of a YOLOX (ddddocr's), native and WebAssembly: up to 4 unit roundoffs apart wherever it is, so
 * where all results are below 1e-4 relL2 is 1.4e-3.
 */
const ROUNDINGS_AROUND_ONE = 8

/**
 * Numbers of one sign that are added one after the other gather up to n roundings; some kernels add so, others pairwise.
 * Seen between onnxruntime native and WebAssembly: relL2 6.9e-5 for 25,600 terms (GlobalAveragePool), 1.7e-5 for 98,496
 * (InstanceNormalization), 3.0e-6 for 3,200, 2.8e-6 for 6,625 (Softmax). An eighth of the bound has 2.8-fold room.
 */
const SUM_SHARE = 1 / 8
/** More would hide faults, whatever rounding explains. */
const MOST_BY_SUMS = 1e-3

function sumLimit(dtype: DType, terms: number): number {
  return Math.min(MOST_BY_SUMS, SUM_SHARE * terms * unitRoundoff(dtype))
}

/** Sums and functions are computed in float32 at least. */
function unitRoundoff(dtype: DType): number {
  return dtype === 'float64' ? 2 ** -53 : 2 ** -24
}

/** The relative limit of a single element; it is its own norm, so the relL2 limit applies too. */
export function loneRtol({ rtol, relL2 }: Tolerance): number {
  return relL2 === null ? rtol : Math.min(rtol, relL2)
}

/** The table's rule, with the words that name its row. */
export function tableRule(
  dtype: DType,
  scope: ToleranceScope,
  arithmetic: Arithmetic = PLAIN,
): Extract<Rule, { kind: 'float' }> {
  const tolerance = toleranceFor(dtype, scope, arithmetic)
  const isWider = tolerance.relL2 !== toleranceFor(dtype, scope).relL2
  const row = `${rowOf(dtype)} ${scope === 'model' ? 'whole model' : 'single layer'}`
  const why = [...(isWider ? [`sums of ${arithmetic.terms}`] : []), ...(arithmetic.aroundOne ? ['around 1'] : [])]
  return { kind: 'float', tolerance, source: `${[row, ...why].join(', ')} (table)` }
}

function rowOf(dtype: DType): ComputeDType {
  if (isComputeDType(dtype)) return dtype
  const { kind, bits } = DTYPES[dtype]
  if ((kind === 'int' || kind === 'uint') && bits <= 8) return 'int8'
  throw new UsageError(
    'tolerance-dtype',
    `there are no tolerances for computing in ${dtype}; give atol and rtol, or one of ${Object.keys(TABLE).join(', ')}`,
  )
}

function isComputeDType(dtype: DType): dtype is ComputeDType {
  return Object.hasOwn(TABLE, dtype)
}

export interface ToleranceOverride {
  readonly rtol?: number
  readonly atol?: number
  readonly allowedMismatch?: number
  readonly relL2?: number
  readonly scale?: number
}

/**
 * An explicit atol or rtol gives the plain |t − r| ≤ atol + rtol·|r|: no scale and no relL2 unless they are given too.
 * atol alone means rtol 0; rtol alone keeps the table's floor as atol, so that a zero need not be met exactly.
 */
export function overrideTolerance(base: Tolerance, override: ToleranceOverride): Tolerance {
  const { rtol, atol, allowedMismatch, relL2, scale } = override
  const isPlain = rtol !== undefined || atol !== undefined
  const tolerance: Tolerance = {
    rtol: rtol ?? (isPlain ? 0 : base.rtol),
    atol: atol ?? (isPlain ? base.floor : base.atol),
    scale: scale ?? (isPlain ? 0 : base.scale),
    relL2: relL2 ?? (isPlain ? null : base.relL2),
    floor: isPlain ? 0 : base.floor,
    allowedMismatch: allowedMismatch ?? base.allowedMismatch,
    rounding: isPlain ? 0 : base.rounding,
    storageUlps: isPlain ? 0 : base.storageUlps,
  }
  checkTolerance(tolerance)
  return tolerance
}

/** Refuses limits that judge nothing: a target of nothing but zeros is off by rtol 1, scale 1 and relL2 1. */
export function checkTolerance(tolerance: Tolerance): void {
  for (const name of ['rtol', 'scale', 'relL2', 'allowedMismatch'] as const) {
    const value = tolerance[name]
    if (value !== null && !(value >= 0 && value < 1)) throw refused(name, value, 'at least 0 and below 1')
  }
  for (const name of ['atol', 'floor', 'rounding', 'storageUlps'] as const) {
    const value = tolerance[name]
    if (!(value >= 0 && Number.isFinite(value))) throw refused(name, value, 'a finite number of at least 0')
  }
}

function refused(name: string, value: number, need: string): UsageError {
  const why = value >= 1 ? '; with this value everything would pass' : ''
  return new UsageError('tolerance', `${name} is ${value}, but must be ${need}${why}; give a smaller limit`)
}
