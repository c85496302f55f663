export const VERDICTS = ['pass', 'fail', 'error', 'inconclusive', 'captured', 'skip', 'xfail', 'xpass'] as const
export type Verdict = (typeof VERDICTS)[number]

export const STAGES = ['discover', 'import', 'extract', 'inputs', 'compile', 'run', 'compare'] as const
export type Stage = (typeof STAGES)[number]
export type Side = 'reference' | 'target'

/** Worst first; a whole has the worst verdict of its parts. */
const SEVERITY: readonly Verdict[] = ['error', 'fail', 'xpass', 'inconclusive', 'xfail', 'skip', 'captured', 'pass']

export function worstVerdict(verdicts: Iterable<Verdict>): Verdict {
  const present = new Set(verdicts)
  return SEVERITY.find((verdict) => present.has(verdict)) ?? 'pass'
}

export type Counts = Record<Verdict, number>

export function countVerdicts(verdicts: Iterable<Verdict>): Counts {
  const counts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Counts
  for (const verdict of verdicts) counts[verdict]++
  return counts
}

export const EXIT = { ok: 0, failed: 1, interrupted: 2, internal: 3, usage: 4, nothing: 5 } as const

export interface ExitOptions {
  readonly interrupted?: boolean
  readonly strict?: boolean
  readonly passWithNoTests?: boolean
  /** How many expected failures match no case. */
  readonly stale?: number
}

export function chooseExitCode(counts: Counts, options: ExitOptions = {}): number {
  if (options.interrupted) return EXIT.interrupted
  if (counts.fail + counts.error + counts.xpass > 0) return EXIT.failed
  if (options.strict && counts.inconclusive + (options.stale ?? 0) > 0) return EXIT.failed
  const judged = counts.pass + counts.captured + counts.xfail
  if (judged === 0 && !options.passWithNoTests) return EXIT.nothing
  return EXIT.ok
}
