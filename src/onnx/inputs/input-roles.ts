import type { NodeProto } from '../generated/onnx-ml_pb.ts'

/** How a graph input is used, which decides the values that fit it. */
export type InputUse = { readonly because: string } & InputFit

export type InputFit =
  | { readonly kind: 'plain' }
  /** Whole numbers from low to high; high null: the indexed size is unknown, or is that of an input's axis. */
  | {
      readonly kind: 'index'
      readonly low: number
      readonly high: number | null
      readonly of?: { readonly input: string; readonly axis: number }
    }
  /** 0, 1, 2 … along the last axis, up to `high`. */
  | { readonly kind: 'positions'; readonly high: number | null }
  /** Ones, then zeros, along the last axis. */
  | { readonly kind: 'mask' }
  | { readonly kind: 'condition'; readonly value: boolean }
  /** Element i is `each + i·step`; the last one is `last` where given. */
  | { readonly kind: 'fixed'; readonly each: number; readonly step?: number; readonly last?: number }
  /** Every element is the size of that axis. */
  | { readonly kind: 'length'; readonly input: string; readonly axis: number }
  /** Parts that add up to the size of that axis. */
  | { readonly kind: 'parts'; readonly input: string; readonly axis: number }
  /** The shape of that input. */
  | { readonly kind: 'extent'; readonly input: string }
  /** The whole range of an 8-bit type. */
  | { readonly kind: 'quantised' }
  | { readonly kind: 'zero-point' }
  | { readonly kind: 'range'; readonly low: number; readonly high: number }
  | { readonly kind: 'nonzero' }

/** What a role can query about the node that uses the value. */
export interface NodeUse {
  readonly node: NodeProto
  /** Sizes of the node's input, where the graph tells: constants, initializers, declared values. */
  shapeOf(position: number): readonly (number | null)[] | null
  /** The sizes of a constant. */
  constantShape(position: number): readonly number[] | null
  /** The value of a constant with one element. */
  scalarOf(position: number): number | null
  /** The graph input whose values arrive there unchanged in shape. */
  inputAt(position: number): string | null
  attribute(name: string, fallback: number): number
}

type Role = (site: NodeUse) => InputFit

const plain: InputFit = { kind: 'plain' }
const fixed = (each: number, more: { step?: number; last?: number } = {}): Role => {
  return () => ({ kind: 'fixed', each, ...more })
}
const range = (low: number, high: number): Role => {
  return () => ({ kind: 'range', low, high })
}
const always = (fit: InputFit): Role => {
  return () => fit
}
const counting = fixed(0, { step: 1 })
const scale = range(0.01, 0.1)
const zeroPoint = always({ kind: 'zero-point' })
const quantised = always({ kind: 'quantised' })
const mask = always({ kind: 'mask' })
const nonzero = always({ kind: 'nonzero' })
const positive = range(0.1, 2)

/** Indices into one axis of the node's input number `data`. */
const indexInto = (data: number, axisOf: (site: NodeUse) => number): Role => {
  return (site) => {
    const shape = site.shapeOf(data)
    const axis = axisOf(site)
    const from = axis < 0 && shape ? axis + shape.length : axis
    const size = shape?.[from] ?? null
    const input = site.inputAt(data)
    if (size !== null) return { kind: 'index', low: 0, high: size - 1 }
    return input !== null && from >= 0 ? unknownSize({ input, axis: from }) : unknownSize()
  }
}

const unknownSize = (of?: { input: string; axis: number }): InputFit => {
  return { kind: 'index', low: 0, high: null, ...(of ? { of } : {}) }
}

const byAxis = (fallback: number) => (site: NodeUse) => site.attribute('axis', fallback)
const atAxis = (axis: number) => () => axis

/** Index tuples: as if all axes were as short as the shortest. */
const tuplesInto = (data: number): Role => {
  return (site) => {
    const sizes = site.shapeOf(data) ?? []
    const known = sizes.filter((size) => size !== null)
    return known.length === sizes.length && known.length > 0
      ? { kind: 'index', low: 0, high: Math.min(...known) - 1 }
      : unknownSize()
  }
}

const DEFAULT_DEPTH = 10
const oneHot: Role = (site) => ({ kind: 'index', low: 0, high: (site.scalarOf(1) ?? DEFAULT_DEPTH) - 1 })

const ofInput = (kind: 'length' | 'parts', data: number, axisOf: (site: NodeUse) => number): Role => {
  return (site) => {
    const input = site.inputAt(data)
    return input === null ? { kind: 'fixed', each: 1 } : { kind, input, axis: axisOf(site) }
  }
}
const sequenceLengths = ofInput('length', 0, (site) => site.attribute('layout', 0))

const extent: Role = (site) => {
  const input = site.inputAt(0)
  return input === null ? plain : { kind: 'extent', input }
}

type Roles = Readonly<Record<number, Role>>
const reduce: Roles = { 1: counting }
const recurrent: Roles = { 4: sequenceLengths }
const qlinearPair: Roles = {
  0: quantised,
  1: scale,
  2: zeroPoint,
  3: quantised,
  4: scale,
  5: zeroPoint,
  6: scale,
  7: zeroPoint,
  8: range(-1000, 1000),
}
const integerPair: Roles = { 0: quantised, 1: quantised, 2: zeroPoint, 3: zeroPoint }

/** Operator → input position → what fits there. Positions that are not listed take any value. */
export const ROLES: Readonly<Record<string, Roles>> = {
  Acos: { 0: range(-0.9, 0.9) },
  Acosh: { 0: range(1.1, 3) },
  Asin: { 0: range(-0.9, 0.9) },
  Atanh: { 0: range(-0.9, 0.9) },
  Attention: { 3: mask },
  BatchNormalization: { 4: range(0.5, 1.5) },
  Bernoulli: { 0: range(0, 1) },
  BitShift: { 1: range(0, 3) },
  BlackmanWindow: { 0: fixed(16) },
  Clip: { 1: range(-1, -0.5), 2: range(0.5, 1) },
  ConstantOfShape: { 0: fixed(2) },
  ConvInteger: integerPair,
  CumProd: { 1: fixed(0) },
  CumSum: { 1: fixed(0) },
  DequantizeLinear: { 0: quantised, 1: scale, 2: zeroPoint },
  DFT: { 1: fixed(8), 2: fixed(1) },
  Div: { 1: nonzero },
  Dropout: { 1: fixed(0.5), 2: always({ kind: 'condition', value: false }) },
  EmbedLayerNormalization: {
    0: indexInto(2, atAxis(0)),
    1: indexInto(4, atAxis(0)),
    7: mask,
    8: indexInto(3, atAxis(0)),
  },
  Expand: { 1: fixed(1) },
  Gather: { 1: indexInto(0, byAxis(0)) },
  GatherElements: { 1: indexInto(0, byAxis(0)) },
  GatherND: { 1: tuplesInto(0) },
  GRU: recurrent,
  HammingWindow: { 0: fixed(16) },
  HannWindow: { 0: fixed(16) },
  Log: { 0: positive },
  LSTM: recurrent,
  MatMulInteger: integerPair,
  MaxUnpool: { 1: counting },
  Mod: { 1: nonzero },
  MultiHeadAttention: { 4: mask },
  NegativeLogLikelihoodLoss: { 1: indexInto(0, atAxis(1)) },
  NonMaxSuppression: { 1: range(0, 1), 2: fixed(10), 3: fixed(0.5), 4: fixed(0) },
  OneHot: { 0: oneHot, 1: fixed(DEFAULT_DEPTH) },
  Pad: { 1: fixed(1), 3: counting },
  Pow: { 0: positive },
  QLinearConv: qlinearPair,
  QLinearMatMul: qlinearPair,
  QuantizeLinear: { 1: scale, 2: zeroPoint },
  Range: { 0: fixed(0), 1: fixed(8), 2: fixed(1) },
  Reciprocal: { 0: nonzero },
  ReduceL1: reduce,
  ReduceL2: reduce,
  ReduceMax: reduce,
  ReduceMean: reduce,
  ReduceMin: reduce,
  ReduceProd: reduce,
  ReduceSum: reduce,
  ReduceSumSquare: reduce,
  ReduceLogSum: { 0: positive, 1: counting },
  ReduceLogSumExp: reduce,
  Reshape: { 1: fixed(1, { last: -1 }) },
  Resize: { 1: fixed(0), 2: fixed(1, { last: 2 }), 3: extent },
  RNN: recurrent,
  RoiAlign: { 2: fixed(0) },
  RotaryEmbedding: { 3: indexInto(1, atAxis(0)) },
  'com.microsoft.RotaryEmbedding': { 1: indexInto(2, atAxis(0)) },
  ScatterElements: { 1: indexInto(0, byAxis(0)) },
  ScatterND: { 1: tuplesInto(0) },
  Slice: { 1: fixed(0), 2: fixed(2 ** 31 - 1), 3: counting, 4: fixed(1) },
  SoftmaxCrossEntropyLoss: { 1: indexInto(0, atAxis(1)) },
  Split: { 1: ofInput('parts', 0, byAxis(0)) },
  SplitToSequence: { 1: ofInput('parts', 0, byAxis(0)) },
  Sqrt: { 0: positive },
  Squeeze: { 1: counting },
  TensorScatter: { 2: fixed(0) },
  Tile: { 1: fixed(1, { last: 2 }) },
  TopK: { 1: fixed(1) },
  Trilu: { 1: fixed(0) },
  Unsqueeze: { 1: counting },
  Upsample: { 1: fixed(1, { last: 2 }) },
}

/** Operators that pass on the values of their first input, or of all, possibly reshaped, reordered or cast. */
export const PASSES_ON: Readonly<Record<string, 'all' | 'first'>> = {
  Cast: 'first',
  CastLike: 'first',
  Concat: 'all',
  Dropout: 'first',
  Expand: 'first',
  Flatten: 'first',
  Gather: 'first',
  Identity: 'first',
  Reshape: 'first',
  Slice: 'first',
  Split: 'first',
  Squeeze: 'first',
  Tile: 'first',
  Transpose: 'first',
  Unsqueeze: 'first',
}

/** Those that also keep the shape. */
export const KEEPS_SHAPE: ReadonlySet<string> = new Set(['Cast', 'CastLike', 'Dropout', 'Identity'])
