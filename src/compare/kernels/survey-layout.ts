// Places in RESULTS of what `survey` finds in a block. AssemblyScript compiles this file too: plain numbers only.

export const SUM_R = 0
export const SUM_D = 1
export const SUM_RR = 2
export const SUM_DD = 3
export const SUM_DR = 4
export const SUM_NEIGHBOURS = 5
/** Of the reference and, in the same order, of the target: mean, squares around it, smallest and largest. */
export const MOMENTS_REFERENCE = 6
export const MOMENTS_TARGET = 10
