import type { DType } from '../../domain/dtype.ts'
import type { OutputResult } from '../../domain/result.ts'
import type { Side } from '../../domain/verdict.ts'
import type { PairLimits } from '../pairs/pair-statistics.ts'
import type { CellWindow } from './grid.ts'
import type { Tally } from './tally.ts'

/** A tensor as the page shows it: complex numbers are pairs along a last dimension of their own. */
export interface ShownTensor {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly isComplex: boolean
}

export interface ShownPair {
  readonly name: string
  readonly reference: ShownTensor | null
  readonly target: ShownTensor | null
}

export interface ShownPairs {
  readonly title: string
  readonly pairs: readonly ShownPair[]
}

/** Precedes the bytes of a slice, with a u32 of its own length before it: those of the reference, the target, `places`. */
export interface SliceHeader {
  /** The part of the grid that is here. */
  readonly window: CellWindow
  /** Rows and columns of the grid that one cell stands for; more than one: it is the worst of them. */
  readonly rowStep: number
  readonly colStep: number
  readonly byteLengths: Readonly<Record<Side, number>>
  /** Bytes of u32 numbers: which place of its block each cell is, row-major; 0 where every cell is one element. */
  readonly placesByteLength: number
  /** null where there are not two sides of one shape. */
  readonly limits: PairLimits | null
  /** Over all elements of the window; null where every cell is one element, so that the page can count itself. */
  readonly tally: Tally | null
}

export interface PairVerdict {
  readonly result: OutputResult
  readonly limits: PairLimits | null
}

/** Limits that somebody gave instead of the table's. */
export interface GivenTolerance {
  readonly rtol?: number
  readonly atol?: number
}
