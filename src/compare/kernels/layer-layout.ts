// Places in RESULTS of what is added up over a layer, call after call. AssemblyScript compiles this file too: plain numbers only.

export const COUNT = 0
export const FINITE = 1
/** Numbers that are not finite: on each side, and where the sides do not agree. */
export const NONFINITE_REFERENCE = 2
export const NONFINITE_TARGET = 3
export const NONFINITE_MISMATCH = 4
export const MAX_ABS = 5
export const ABS = 6
export const SQUARES_DIFFERENCE = 7
export const SQUARES_REFERENCE = 8
export const SQUARES_TARGET = 9
export const PRODUCT = 10
export const SIGNS = 11
/** The row that has begun: its numbers so far, squares and product. */
export const IN_ROW = 12
export const ROW_REFERENCE = 13
export const ROW_TARGET = 14
export const ROW_PRODUCT = 15
/** Rows that have ended, those without a cosine, and the cosines of the others. */
export const ROWS = 16
export const ZERO_ROWS = 17
export const COSINES = 18
export const LEAST_COSINE = 19
export const STATE_COUNT = 20
