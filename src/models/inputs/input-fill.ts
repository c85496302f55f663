import { DTYPES, type DType, dtypeKind } from '../../domain/dtype.ts'
import { elementCount, type TensorSpec } from '../../domain/tensor.ts'
import type { InputUse } from '../../onnx/inputs/input-uses.ts'
import type { RandomStream } from '../random.ts'

export type ShapeOf = (input: string) => readonly number[] | undefined

/** Whole numbers without a known use stay small, so that sums and products of them stay exact. */
const PLAIN_INTEGER = 100
/** A mask leaves out the last quarter. */
const MASK_ONES = 0.75

/** Values that fit how an input is used. */
export function fillForUse(spec: TensorSpec, use: InputUse, random: RandomStream, shapeOf: ShapeOf): Float64Array {
  const count = elementCount(spec.shape)
  const each = (value: (i: number) => number) => Float64Array.from({ length: count }, (_, i) => value(i))
  const row = spec.shape.at(-1) ?? 1
  switch (use.kind) {
    case 'index': {
      const [low, high] = indexBounds(use, shapeOf)
      return each(() => random.integer(low, high))
    }
    case 'positions':
      return each((i) => Math.min(i % row, use.high ?? Number.POSITIVE_INFINITY))
    case 'mask':
      return each((i) => (i % row < Math.ceil(row * MASK_ONES) ? 1 : 0))
    case 'condition':
      return each(() => (use.value ? 1 : 0))
    case 'fixed':
      return each((i) => (i === count - 1 && use.last !== undefined ? use.last : use.each + i * (use.step ?? 0)))
    case 'length': {
      const size = shapeOf(use.input)?.at(use.axis) ?? 1
      return each(() => size)
    }
    case 'parts':
      return each((i) => partOf(shapeOf(use.input)?.at(use.axis) ?? count, count, i))
    case 'extent':
      return each((i) => shapeOf(use.input)?.[i] ?? 1)
    case 'zero-point':
      return each(() => (dtypeKind(spec.dtype) === 'uint' ? 2 ** (DTYPES[spec.dtype].bits - 1) : 0))
    case 'range':
      return fillRange(spec, use.low, use.high, random)
    case 'nonzero':
      return each(() => awayFromZero(spec.dtype, random))
    case 'quantised':
    case 'plain':
      return fillPlain(spec, random)
  }
}

function indexBounds(use: Extract<InputUse, { kind: 'index' }>, shapeOf: ShapeOf): [number, number] {
  const size = use.of ? shapeOf(use.of.input)?.[use.of.axis] : undefined
  const high = use.high ?? (size === undefined ? use.low : size - 1)
  return [use.low, Math.max(use.low, high)]
}

function partOf(size: number, parts: number, i: number): number {
  return Math.floor((size * (i + 1)) / parts) - Math.floor((size * i) / parts)
}

/** Uniform from low to high; integers include both ends. */
export function fillRange(spec: TensorSpec, low: number, high: number, random: RandomStream): Float64Array {
  const values = new Float64Array(elementCount(spec.shape) * (dtypeKind(spec.dtype) === 'complex' ? 2 : 1))
  const next = drawer(spec.dtype, low, high, random)
  for (let i = 0; i < values.length; i++) values[i] = next()
  return values
}

function drawer(dtype: DType, low: number, high: number, random: RandomStream): () => number {
  const kind = dtypeKind(dtype)
  if (kind === 'bool') return () => random.integer(0, 1)
  if (kind === 'int' || kind === 'uint') {
    const first = Math.ceil(low)
    const last = Math.max(first, Math.floor(high))
    return () => random.integer(first, last)
  }
  // A double filled with 24 random bits would not notice a target that computes in single precision.
  const unit = dtype === 'float64' || dtype === 'complex128' ? random.unit53 : random.unit
  return () => low + (high - low) * unit()
}

/**
 * Floats uniform in [-1, 1): no outlier decides a tensor's scale, nothing overflows in half precision, and every
 * float32 of it is exact. 8-bit integers and smaller over their whole range, wider ones within ±100.
 */
export function fillPlain(spec: TensorSpec, random: RandomStream): Float64Array {
  const [low, high] = plainRange(spec.dtype)
  return fillRange(spec, low, high, random)
}

function plainRange(dtype: DType): [number, number] {
  const { kind, bits } = DTYPES[dtype]
  // This type has powers of two only.
  if (dtype === 'float8e8m0') return [0.5, 2]
  if (kind !== 'int' && kind !== 'uint') return [-1, 1]
  if (bits > 8) return [kind === 'uint' ? 0 : -PLAIN_INTEGER, PLAIN_INTEGER]
  return kind === 'uint' ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
}

function awayFromZero(dtype: DType, random: RandomStream): number {
  const kind = dtypeKind(dtype)
  if (kind === 'int' || kind === 'uint') return random.integer(1, Math.min(10, 2 ** (DTYPES[dtype].bits - 1) - 1))
  const size = 0.5 + random.unit() / 2
  return random.unit() < 0.5 ? -size : size
}
