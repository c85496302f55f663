/** What one run did in which an operation on a file failed, as judge-under-faults.mjs tells it. */
export interface FaultyRun {
  readonly at: number
  readonly fault: string
  /** null: the run had ended before. */
  readonly fired: { readonly name: string; readonly path: string } | null
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Errors that nobody caught. */
  readonly crashes: readonly string[]
  /** null: there is none. */
  readonly record: FaultyRecord | null
}

interface FaultyRecord {
  readonly unreadable?: string
  readonly lines?: readonly { readonly id: string; readonly verdict: string }[]
}

/** A disk error may cost a verdict, and never gives another one. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = { healthy: ['pass', 'error'], wrong: ['fail', 'error'] }
const STACK = /internal error|^ {4}at |bug in Assay/m
const SAYS_SO = /cannot go on|could not be recorded/

/** What no fault of a disk may do to a run of the two cases; empty: it behaved. */
export function problemsOf(run: FaultyRun): string[] {
  const text = run.stdout + run.stderr
  const problems = [...wrongVerdicts(run), ...lostLines(run)]
  if (run.code === 0) problems.push('wrong green: exit 0')
  if (STACK.test(text)) problems.push(`a stack: ${STACK.exec(text)?.[0]}`)
  else if (run.code === 3 && !SAYS_SO.test(text)) problems.push('exit 3 without a reason')
  if (run.crashes.length > 0) problems.push(`nobody caught ${run.crashes[0]}`)
  if (run.record?.unreadable) problems.push(`the record is unreadable: ${run.record.unreadable}`)
  return problems
}

function wrongVerdicts({ stdout, record }: FaultyRun): string[] {
  const said = [...judgedIn(stdout), ...(record?.lines ?? [])]
  const wrong = said.filter(({ id, verdict }) => !ALLOWED[id.split('/')[0]!]?.includes(verdict))
  return wrong.map(({ id, verdict }) => `${verdict === 'pass' ? 'wrong green' : 'wrong verdict'}: ${id} ${verdict}`)
}

/** Reported as judged, and not in the record of a run that does not say that it could not write it. */
function lostLines({ stdout, stderr, record }: FaultyRun): string[] {
  if (SAYS_SO.test(stdout + stderr)) return []
  const kept = new Set(record?.lines?.map(({ id, verdict }) => `${id} ${verdict}`))
  const lost = judgedIn(stdout).filter(({ id, verdict }) => !kept.has(`${id} ${verdict}`))
  return lost.map(({ id }) => `lost: ${id}`)
}

function judgedIn(stdout: string): { id: string; verdict: string }[] {
  return [...stdout.matchAll(/^\[\d\/\d\] \S (\w+) +(\S+)/gm)].map(([, verdict, id]) => ({
    id: id!,
    verdict: verdict!,
  }))
}
