// Where things lie in the memory of the kernels, in bytes. AssemblyScript compiles this file too: plain numbers only.

/** Numbers per block; a chunk is a whole number of blocks. */
export const BLOCK = 2048
export const CHUNK = 65536

/** Results of the last call, as float64. */
export const RESULTS = 1024
/** What the scan found in each block of a chunk, four 32-bit words a block. */
export const BLOCKS = 2048
export const BLOCK_WORDS = 4
/** Positions in a block that may be among the worst, as 32-bit integers. */
export const CANDIDATES = 4096
/** One block of both tensors and their difference as float64. */
export const REFERENCE_64 = 12288
export const TARGET_64 = 28736
export const DIFFERENCE_64 = 45184
/** Squares of one block's differences; shares its place with what follows, which nobody needs at the same time. */
export const SQUARES_64 = 65536
/** One block of both tensors, their absolute and their relative errors as float32. */
export const REFERENCE_32 = 65536
export const TARGET_32 = 73728
export const ABSOLUTE_32 = 81920
export const RELATIVE_32 = 90112
/** Counts of errors by the top 16 bits of their float32, 32-bit integers. */
export const ABSOLUTE_BINS = 131072
export const RELATIVE_BINS = 262144
export const BINS = 32768
/** One chunk of both tensors as it is stored, at most 4 bytes a number. */
export const REFERENCE_CHUNK = 393216
export const TARGET_CHUNK = 655360

/** Places in RESULTS of what is added up over a chunk or block. */
export const SUM_FINITE = 0
export const SUM_ABS = 1
export const SUM_DIFFERENCE = 2
export const SUM_REFERENCE = 3
export const SUM_TARGET = 4
export const SUM_PRODUCT = 5
export const SUM_HALF_ULP = 6
export const SUM_RELATIVE = 7
export const SUM_RELATIVE_COUNT = 8
export const SUMS = 9
/** And of what is not. */
export const DIFFERENT = 9
export const MAX_REFERENCE = 10
export const MAX_ULP = 11
export const LEAST_ABS = 12
export const LEAST_RELATIVE = 13
export const OVER_LIMIT = 14
export const NEEDED_CONSTANT = 15
export const MAX_ABS = 16
export const MAX_RELATIVE = 17
export const CANDIDATE_COUNT = 18
export const RESULT_COUNT = 19

/** Words of a block in BLOCKS: 1 unless the scan could do it; 1 if a place may be over a limit; two float32. */
export const WORD_SKIPPED = 0
export const WORD_SUSPECT = 1
export const WORD_MAX_ABS = 2
export const WORD_MAX_RELATIVE = 3

/** How the scan reads a chunk. */
export const FLOAT32 = 0
export const FLOAT16 = 1
export const BFLOAT16 = 2
