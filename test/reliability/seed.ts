/** What a job draws from; `ASSAY_TEST_SEED` gives the one that a failing run printed. */
export function jobSeed(): number {
  const given = process.env.ASSAY_TEST_SEED
  if (!given) return Math.floor(Math.random() * 2 ** 32)
  const seed = Number(given)
  if (!Number.isInteger(seed) || seed < 0)
    throw new Error(`ASSAY_TEST_SEED=${given} is not a seed; give a whole number`)
  return seed
}

/** The one command that repeats a job with the same draws. */
export function replayCommand(file: string, seed: number): string {
  return `ASSAY_TEST_SEED=${seed} npm run test:all -- ${file}`
}
