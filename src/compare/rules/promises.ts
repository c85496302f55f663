import type { DType } from '../../domain/dtype.ts'
import { ulpSize } from '../../tensors/ulp.ts'
import { formatLimit } from './rule-text.ts'

/** A kernel language that promises less accuracy than a processor's arithmetic. */
export type ShaderLanguage = 'wgsl'

/** The promised accuracy of a function if the reference gives r for x. */
export interface PromisedFunction {
  /** In words, with who says so. */
  readonly text: string
  /** Nothing is promised where |x| is larger. */
  readonly reach: number
  readonly allowed: (x: number, r: number) => number
  /** How far the result moves, at most, when x moves by 1. */
  readonly slope: (r: number) => number
}

/** One float type: its numbers in WGSL's table, and the step size at a value. */
interface Accuracy {
  readonly sine: number
  readonly asin: number
  readonly acos: number
  readonly atanUlps: number
  readonly expUlps: number
  readonly log: number
  readonly ulp: (value: number) => number
}

/*
 * WGSL, "Accuracy of Concrete Floating Point Expressions" (https://www.w3.org/TR/WGSL/#concrete-float-accuracy).
 * An implementation may be better, and most are; SwiftShader's sin and cos are off by up to 1.9e-4.
 */
const ACCURACY: Readonly<Partial<Record<DType, Accuracy>>> = {
  float32: {
    sine: 2 ** -11,
    asin: 6.81e-5,
    acos: 6.77e-5,
    atanUlps: 4096,
    expUlps: 3,
    log: 2 ** -21,
    ulp: (value) => ulpSize('float32', value),
  },
  float16: {
    sine: 2 ** -7,
    asin: 3.91e-3,
    acos: 3.91e-3,
    atanUlps: 5,
    expUlps: 1,
    log: 2 ** -7,
    ulp: (value) => ulpSize('float16', value),
  },
}

type Row = (accuracy: Accuracy) => {
  readonly says: string
  readonly allowed: PromisedFunction['allowed']
  readonly reach?: number
  readonly slope?: PromisedFunction['slope']
}

const DIVISION_ULPS = 2.5

/*
 * ONNX ops whose kernel is one call of a WGSL function (Tanh: of exp), in both WebGPU implementations of onnxruntime-web
 * 1.30: core/providers/webgpu/math/unary_elementwise_ops.cc and lib/wasm/jsep/webgpu/ops/unary-op.ts. Left out: ops whose
 * promise is within the usual limits anyway (Sqrt, Reciprocal, Div), Erf (a polynomial of onnxruntime's own), Asinh,
 * Acosh and Atanh (WGSL promises what a formula gives that loses every digit for some x), and all that adds up.
 */
const WGSL: Readonly<Record<string, Row>> = {
  Sin: ({ sine }) => ({ says: `sin(x) to ${power(sine)}`, reach: Math.PI, allowed: () => sine }),
  Cos: ({ sine }) => ({ says: `cos(x) to ${power(sine)}`, reach: Math.PI, allowed: () => sine }),
  Tan: ({ sine, ulp }) => ({
    says: `tan(x) to sin(x) / cos(x), each to ${power(sine)}`,
    reach: Math.PI,
    slope: (r) => 1 + r * r,
    allowed: (_, r) => quotientError(sine, r) + DIVISION_ULPS * ulp(r),
  }),
  // Also inherited from atan2, which may be as far off as atan.
  Asin: ({ asin, atanUlps, ulp }) => ({
    says: `asin(x) to ${formatLimit(asin)} or ${atanUlps} ULP`,
    allowed: (_, r) => Math.max(asin, atanUlps * ulp(r)),
  }),
  Acos: ({ acos, atanUlps, ulp }) => ({
    says: `acos(x) to ${formatLimit(acos)} or ${atanUlps} ULP`,
    allowed: (_, r) => Math.max(acos, atanUlps * ulp(r)),
  }),
  Atan: ({ atanUlps, ulp }) => ({ says: `atan(x) to ${atanUlps} ULP`, allowed: (_, r) => atanUlps * ulp(r) }),
  Exp: (accuracy) => ({
    says: `exp(x) to ${accuracy.expUlps} + 2·|x| ULP`,
    allowed: (x, r) => expError(accuracy, x, r),
  }),
  Log: ({ log, ulp }) => ({
    says: `log(x) to ${power(log)} where 0.5 ≤ x ≤ 2, else to 3 ULP`,
    allowed: (x, r) => (x >= 0.5 && x <= 2 ? log : 3 * ulp(r)),
  }),
  Sinh: (accuracy) => ({
    says: `sinh(x) to (exp(x) − exp(−x)) / 2`,
    allowed: (x, r) => halfSumError(accuracy, x) + accuracy.ulp(r),
  }),
  Cosh: (accuracy) => ({
    says: `cosh(x) to (exp(x) + exp(−x)) / 2`,
    allowed: (x, r) => halfSumError(accuracy, x) + accuracy.ulp(r),
  }),
  // onnxruntime's is (1 − e) / (1 + e) of e = exp(−2·|x|).
  Tanh: (accuracy) => ({
    says: `exp(x), which tanh is computed from, to ${accuracy.expUlps} + 2·|x| ULP`,
    allowed: (x, r) => {
      const e = Math.exp(-2 * Math.abs(x))
      return (2 * expError(accuracy, 2 * x, e)) / (1 + e) ** 2 + (2 + DIVISION_ULPS) * accuracy.ulp(r)
    },
  }),
}

/** What a language promises for an op on this dtype; null if no promise weaker than the usual limits is known. */
export function findPromise(_language: ShaderLanguage, op: string, dtype: DType): PromisedFunction | null {
  const [row, accuracy] = [Object.hasOwn(WGSL, op) ? WGSL[op] : undefined, ACCURACY[dtype]]
  if (!row || !accuracy) return null
  const { says, allowed, reach = Number.POSITIVE_INFINITY, slope = () => 1 } = row(accuracy)
  const where = reach === Math.PI ? ' where |x| ≤ π' : ''
  return { text: `WGSL promises ${says}${where}`, reach, allowed, slope }
}

/** Ops of which something is promised. */
export const PROMISED_OPS: readonly string[] = Object.keys(WGSL)

function expError({ expUlps, ulp }: Accuracy, x: number, e: number): number {
  return (expUlps + 2 * Math.abs(x)) * ulp(e)
}

function halfSumError(accuracy: Accuracy, x: number): number {
  return (expError(accuracy, x, Math.exp(x)) + expError(accuracy, x, Math.exp(-x))) / 2
}

/** For a tangent r whose sine and cosine are each off by `error`; nothing is promised if the cosine may be 0. */
function quotientError(error: number, r: number): number {
  const perCosine = Math.sqrt(1 + r * r)
  const left = 1 - error * perCosine
  return left > 0 ? (error * (1 + Math.abs(r)) * perCosine) / left : 0
}

function power(value: number): string {
  return `2^${Math.log2(value)}`
}
