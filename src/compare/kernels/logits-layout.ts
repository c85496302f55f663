// Where a row of logits lies in the memory of the kernels. AssemblyScript compiles this file too: plain numbers only.

/** Results of the last row, as float64. */
export const ROW_RESULTS = 1024
export const FLAGGED = 0
export const ARG_MAX_REFERENCE = 1
export const ARG_MAX_TARGET = 2
export const WEIGHT = 3
export const WEIGHT_TARGET = 4
export const WEIGHT_DIFFERENCE = 5
export const WEIGHT_CURVE = 6
export const RATIO = 7
export const RATIO_SQUARED = 8
/** How many runs hold tokens that were left out because they are the heaviest; HEAVY_RUNS lists them, as 32-bit integers. */
export const HEAVY_COUNT = 9
/** From this logit of the target on a token was left out. */
export const HEAVY_LEAST = 10
/** Weights are counted in units of their own, as is what they are part of: the logarithm of one. */
export const LOG_UNIT = 11
/** Of the arg-max: how much r − t is more than what x is counted from. */
export const MOVE = 12
export const ROW_RESULT_COUNT = 13

/** For a run of which not all counts: nothing but ones for each logit that does, 32 bits each. */
export const COUNTS = 2048

export const HEAVY_RUNS = 2304
export const MOST_HEAVY = 32

/** Logits per run; a row is read in whole runs. */
export const ROW_RUN = 64

/** Runs that are done in turn, at most. */
export const ROW_STRETCH = 16

/**
 * Logits of room before each row. What a run gives is left so far before it, over runs that are done, so that a row takes
 * half the cache; the stretch that is being done stays as it is and can be done again.
 */
export const ROW_LEAD = 1088 // (ROW_STRETCH + 1) * ROW_RUN

/** From here: room, reference, room, target, then the largest of every run of both sides. */
export const ROWS = 4096
