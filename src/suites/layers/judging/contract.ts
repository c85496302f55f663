import type { LayerSums } from '../../../compare/layers/layer-meter.ts'
import type { Direction, Metric } from '../../../domain/result.ts'
import type { LimitedLayer } from '../thresholds/layer-thresholds.ts'

/** What a layer does wrong by itself, computed on the reference's inputs. */
export type LocalError = { readonly sums: LayerSums } | { readonly problem: string }

/** Runs layers alone on the target. */
export interface LocalReplay {
  /** By the names of the layers, with call and element. */
  measureLocal(names: readonly string[]): Promise<ReadonlyMap<string, LocalError>>
  /** Whether a layer is computed inside another one. */
  isPart(inner: string, outer: string): boolean
  /** Whether it is an output of the whole model, which no single layer computes. */
  isWhole(name: string): boolean
}

/** Limits of layers, and where they come from. */
export interface LayerLimits {
  /** As in `torch:cpu,dtype=bf16` or the path of a file. */
  readonly source: string
  find(name: string, shape: readonly number[]): LimitedLayer | null
}

/** What layers are judged by. */
export interface LayerJudging {
  readonly limits: LayerLimits
  readonly margin: number
  /** Asked for only where a layer is over its limit; the text says why nothing can be run alone. */
  readonly replay: () => Promise<LocalReplay | { readonly absent: string }>
}

/** A figure of a layer beside its limit. */
export interface Check {
  readonly metric: Metric & { readonly value: number }
  readonly direction: Direction
  /** As learnt, and with the margin. */
  readonly learnt: number
  readonly limit: number
  /** The error in multiples of the learnt one; for a similarity, the root of what it lacks to 1 in such multiples. */
  readonly ratio: number
  readonly isWithin: boolean
}

export type LayerStanding =
  | { readonly kind: 'within'; readonly checks: readonly Check[] }
  | { readonly kind: 'over'; readonly checks: readonly Check[]; readonly why: string }
  | { readonly kind: 'unlimited' | 'unmeasured'; readonly why: string }

/** Where the error of a layer over its limit was made. */
export type ErrorOrigin =
  | { readonly kind: 'made there' }
  | { readonly kind: 'came in' }
  /** In no part of it alone: between them, or it accumulates. */
  | { readonly kind: 'made inside' }
  | { readonly kind: 'contains'; readonly layer: string }
  | { readonly kind: 'not replayed'; readonly why: string }
