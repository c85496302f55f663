// Where a row lies in the memory of its kernel. AssemblyScript compiles this file too: plain numbers only.

/** Numbers per run; a row is read in whole runs, the last one filled up with −Infinity. */
export const RUN = 64

/** The row begins here; the largest of every run follow it. */
export const ROW = 1024
