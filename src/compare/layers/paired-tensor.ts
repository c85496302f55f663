import { DTYPES } from '../../domain/dtype.ts'
import { elementCount, formatShape, type Tensor, type TensorSpec } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { LayerMeter, type LayerSums } from './layer-meter.ts'
import { type ElementRange, findRealElements, type PaddingMask } from './real-positions.ts'

/** A tensor that both sides gave, or one of them. */
export interface PairedTensor {
  readonly name: string
  readonly reference: TensorSpec | null
  readonly target: TensorSpec | null
  /** null: not measured; `problem` says why. */
  readonly sums: LayerSums | null
  readonly problem?: string
}

/** What two tensors are measured with. */
export interface PairPlan {
  readonly meter: LayerMeter
  /** Elements that are measured, in order. */
  readonly ranges: readonly ElementRange[]
  readonly elements: number
}

/** A text: why the two are not measured. */
export function planPair(reference: TensorSpec, target: TensorSpec, mask: PaddingMask | null): PairPlan | string {
  const problem = whyUnmeasured(reference, target)
  if (problem !== null) return problem
  const { shape } = reference
  const real = findRealElements(shape, mask)
  const elements = elementCount(shape)
  // A mask that ends within rows leaves no whole ones.
  const rowLength = real !== null && shape.length === 2 ? null : rowLengthOf(shape)
  const meter = new LayerMeter({ reference: reference.dtype, target: target.dtype }, rowLength)
  return { meter, ranges: real ?? [{ start: 0, end: elements }], elements }
}

/** Measures two whole tensors. */
export function measurePair(name: string, reference: Tensor, target: Tensor, mask: PaddingMask | null): PairedTensor {
  const specs = { reference: specOf(name, reference), target: specOf(name, target) }
  const plan = planPair(specs.reference, specs.target, mask)
  if (typeof plan === 'string') return { name, ...specs, sums: null, problem: plan }
  for (const { start, end } of plan.ranges) {
    plan.meter.add({ bytes: reference.bytes, first: start }, { bytes: target.bytes, first: start }, end - start)
  }
  return { name, ...specs, sums: plan.meter.sums }
}

/** What only one of the sides gave. */
export function loneTensor(side: Side, name: string, given: Omit<TensorSpec, 'name'>): PairedTensor {
  const none = { reference: null, target: null }
  return { name, ...none, [side]: specOf(name, given), sums: null, problem: `only the ${side} computes it` }
}

export function specOf(name: string, { dtype, shape }: Omit<TensorSpec, 'name'>): TensorSpec {
  return { name, dtype, shape }
}

function whyUnmeasured(reference: TensorSpec, target: TensorSpec): string | null {
  if (formatShape(reference.shape) !== formatShape(target.shape)) {
    return `the shapes differ: ${formatShape(reference.shape)} on the reference, ${formatShape(target.shape)} on the target`
  }
  const kinds = [reference, target].map(({ dtype }) => DTYPES[dtype].kind)
  if (kinds.includes('string')) return 'text is not measured'
  return (kinds[0] === 'complex') === (kinds[1] === 'complex') ? null : 'only one side is complex'
}

function rowLengthOf(shape: readonly number[]): number | null {
  const last = shape.at(-1) ?? 1
  return last > 1 ? last : null
}
