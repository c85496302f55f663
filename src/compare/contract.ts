import type { DType } from '../domain/dtype.ts'
import type { Metric, OutputResult, WorstPlace } from '../domain/result.ts'
import type { TensorSource, TensorSpec } from '../domain/tensor.ts'
import type { Tolerance } from '../domain/tolerance.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { PairPart } from './pairs/pair-statistics.ts'
import type { PairTask } from './pairs/pair-task.ts'

export type { Tolerance } from '../domain/tolerance.ts'

export type ToleranceScope = 'model' | 'layer'

/** The properties of a layer's arithmetic that determine its rounding errors. */
export interface Arithmetic {
  /** How many numbers are added up for one result. */
  readonly terms: number
  /** Results are computed from numbers near 1. */
  readonly aroundOne: boolean
}

/** Precisions with a row in the tolerance table. */
export type ComputeDType = Extract<
  DType,
  | 'float64'
  | 'float32'
  | 'float16'
  | 'bfloat16'
  | 'int8'
  | 'float8e4m3fn'
  | 'float8e4m3fnuz'
  | 'float8e5m2'
  | 'float8e5m2fnuz'
>

/** How to find the values that an index output selects, row-major in the output's own order. */
export interface IndexSelection {
  readonly op: 'ArgMax' | 'ArgMin' | 'TopK' | 'NonMaxSuppression'
  /** The indexed tensor. */
  readonly tensor: string
  readonly axis: number
  readonly keepDims: boolean
  /** True: the last of equal values must be selected; otherwise any of them may be. */
  readonly last?: boolean
}

/** `source` says in words where the limits come from; the rule's text in the result begins with it. */
export type Rule =
  | {
      readonly kind: 'float'
      readonly tolerance: Tolerance
      readonly source: string
      /** The user gave the limits, so nothing widens them. */
      readonly given?: boolean
    }
  | { readonly kind: 'quantised'; readonly steps: number; readonly allowedMismatch: number; readonly source: string }
  | {
      readonly kind: 'index'
      readonly selection: IndexSelection
      readonly tolerance: Tolerance
      readonly source: string
    }
  | { readonly kind: 'exact'; readonly source: string; readonly flags: readonly string[] }

/** Another way to measure tensors than chunk by chunk in this thread; null: measure these the usual way. */
export interface PairMeasurer {
  maxAbs(source: TensorSource): Promise<number> | null
  measure(reference: TensorSource, target: TensorSource, task: PairTask): Promise<MeasuredParts> | null
}

/** The sums of all chunks in order, and the other findings of all threads. */
export interface MeasuredParts {
  readonly sums: readonly Float64Array[]
  readonly parts: readonly PairPart[]
}

export interface TensorContext {
  /** Inputs were generated: equal constants on both sides prove nothing. */
  readonly generated: boolean
  /** Precision that the target declares; null: its dtypes must be the reference's. */
  readonly targetDType: DType | null
  /** On the reference side, the tensor that an index rule's output selects from. */
  readonly indexed?: TensorSource | undefined
  readonly measurer?: PairMeasurer | undefined
}

export interface CompareOptions {
  readonly ruleOf: (tensorName: string, spec: TensorSpec) => Rule
  readonly generated: boolean
  readonly targetDType: DType | null
  /** Values that an index output selects from, on the reference side. */
  readonly indexed?: (tensor: string) => TensorSource | undefined
  /** Such as threads that read the files of both sides themselves. */
  readonly measurer?: PairMeasurer
  /** What makes a tensor's values random, in words; null: nothing does. */
  readonly randomBy?: (tensorName: string) => string | null
}

export interface TraceComparison {
  readonly verdict: Verdict
  readonly reason?: string
  readonly flags: readonly string[]
  /** Tensors (and empty sequences or optionals); extra ones on the target side count as expected and not compared. */
  readonly coverage: { readonly compared: number; readonly expected: number }
  /** The worst over all outputs. */
  readonly metrics: readonly Metric[]
  readonly outputs: readonly OutputResult[]
  /** The ten worst places over all outputs. */
  readonly worst: readonly WorstPlace[]
}
