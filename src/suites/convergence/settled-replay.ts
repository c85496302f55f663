import type { Lab } from '../../runs/contract.ts'
import type { ConvergenceTest, ManifestEntry, ResumeAt } from './config/contract.ts'
import { isWhole, learnStart, unlearnStart } from './learnt-start.ts'
import { isHealthy, programError } from './program-error.ts'
import { type Replay, type ReplayRequest, replay } from './replay.ts'
import { isRedone } from './replay-window.ts'
import type { WindowUnderTest } from './window-under-test.ts'

type Asked = Pick<ReplayRequest, 'checkpointInput' | 'seed'>

/** The replay that counts, and the one with another start, if one was tried. */
interface Settled {
  readonly counts: Replay
  readonly other: Replay | null
  readonly notes: readonly string[]
}

/** Replays a window from the step where its program resumes, which replays show if the configuration does not say it. */
export async function settledReplay(window: WindowUnderTest, asked: Asked, lab: Lab): Promise<Replay> {
  const { planned, entry } = window
  const from = (resumeAt: ResumeAt) => replay({ planned, entry, ...asked, resumeAt }, lab)
  const { counts, other, notes } = await settled(window, from)
  const name = asked.seed === null ? 'program' : `program-seed-${asked.seed}`
  await lab.keep(`${name}.log`, counts.logFile)
  if (other === null) return { ...counts, notes }
  await lab.keep(`${name}-other-start.log`, other.logFile)
  return { ...counts, notes, replays: 2, attempts: counts.attempts + other.attempts }
}

async function settled(window: WindowUnderTest, from: (resumeAt: ResumeAt) => Promise<Replay>): Promise<Settled> {
  const { test, storage } = window.planned
  if (test.resumeAt !== null || !hasLaterStart(test, window.entry))
    return { counts: await from(test.resumeAt ?? 'last_step'), other: null, notes: [] }
  const learnt = (await storage.learntStart()) && (await from('next_step'))
  if (learnt && (!isHealthy(learnt.outcome) || takesStart(window, learnt)))
    return { counts: learnt, other: null, notes: [`started with ${laterStart(window.entry)}`] }
  const first = await from('last_step')
  if (!isStepOff(window, first))
    return { counts: first, other: learnt, notes: learnt ? [await unlearnStart(window)] : [] }
  const later = learnt ?? (await from('next_step'))
  const again = `replayed again from ${laterStart(window.entry)}`
  const problem = problemOf(window, later)
  // The program may accept only the documented start; but if that stopped short, the crash matters.
  if (problem !== null && isWhole(window, first))
    return { counts: first, other: later, notes: [`${again}, where ${problem}: the first replay counts`] }
  return { counts: later, other: first, notes: [again, ...(await learnStart(window, first, later))] }
}

/** A save before any step has none that could be done again, and not every step begins a unit. */
function hasLaterStart({ stepsPerUnit }: ConvergenceTest, { startStep, results }: ManifestEntry): boolean {
  return !results.has(startStep) && (startStep + 1) % stepsPerUnit === 0
}

/** A program that logs the state it found and goes on from there gives what was recorded; one that did the step again cannot. */
function isStepOff(window: WindowUnderTest, first: Replay): boolean {
  return isHealthy(first.outcome) && isRedone(window.entry, first) && !isAsRecorded(window, first)
}

function isAsRecorded({ entry, planned }: WindowUnderTest, { recording }: Replay): boolean {
  const metrics = Object.keys(planned.test.rules)
  return [...entry.results].every(([step, logged]) =>
    metrics.every((name) => JSON.stringify(logged[name]) === JSON.stringify(recording.get(step)?.[name])),
  )
}

/** The program was told to begin with the window's first step, and did. */
function takesStart({ entry }: WindowUnderTest, { recording }: Replay): boolean {
  const [first] = entry.results.keys()
  const logged = recording.get(first!)
  return logged !== undefined && Object.keys(logged).length > 0
}

function problemOf(window: WindowUnderTest, later: Replay): string | null {
  if (!isHealthy(later.outcome)) return programError(later).message
  return takesStart(window, later) ? null : 'it did not log that step'
}

function laterStart({ startStep }: ManifestEntry): string {
  const why = `from step ${startStep}, as documented, the program repeats that step, which its checkpoint already has`
  return `step ${startStep + 1} (${why})`
}
