// Where words lie in the kernel's memory, in bytes: behind the constants, in its first page. AssemblyScript compiles this file too.

export const WORDS = 1024
/** How many 32-bit words are surveyed at once. */
export const MOST_WORDS = 16000
