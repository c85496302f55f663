import { join, relative, resolve } from 'node:path'
import type { CaseNotes } from '../domain/case-notes.ts'
import { formatDay } from '../domain/expected-failure.ts'
import { remember } from '../domain/remember.ts'
import type { Reporter } from '../domain/run.ts'
import { hideFromGit } from '../files/disk/hide-from-git.ts'
import { isInside } from '../files/disk/is-inside.ts'
import { listSpecs } from '../options/table.ts'
import type { Accepted } from '../reporters/accepted-lines.ts'
import type { Case } from '../runs/contract.ts'
import type { RunOutcome, RunSignals } from '../runs/execute/execute.ts'
import type { ExpectedOutcomes } from '../runs/expected/expected-failures.ts'
import { expectedPlace, readExpected } from '../runs/expected/expected-place.ts'
import type { PlanRequest } from '../runs/plan/plan.ts'
import type { LaunchContext } from '../runtimes/contract.ts'
import type { WarmWorkers } from '../runtimes/host/warm-workers.ts'
import type { Answer, Notice, PlanContext, Planned } from '../suites/contract.ts'
import { describeEnvironment } from './environment.ts'
import { type Invocation, makeReproduce } from './invocation.ts'
import { countJobs, LazyPool } from './lazy-pool.ts'

export interface RunListeners {
  readonly reporters: readonly Reporter[]
  readonly signals?: RunSignals
  /** What has no place in an event, such as that a runtime is being installed. */
  readonly notice: Notice
  /** What tools print, as it comes. */
  readonly onOutput?: LaunchContext['onOutput']
  /** Workers that stay for the next run in this process; whoever gives them closes them. */
  readonly workers?: WarmWorkers
}

export interface JudgedOutcome extends RunOutcome {
  /** What `--accept` wrote. */
  readonly accepted?: Accepted
  /** What its suites say about cases besides their verdicts. */
  readonly notes: readonly CaseNotes[]
  /** What to say where the run was interrupted. */
  readonly ifInterrupted: readonly string[]
}

export interface ListedCases {
  readonly cases: readonly string[]
  readonly selected: readonly string[]
}

/** Judges the cases of an invocation, records the run and, where that is asked for, accepts what fails. */
export async function judge(invocation: Invocation, listeners: RunListeners): Promise<JudgedOutcome> {
  const { values } = invocation
  const place = expectedPlace(values.expected, invocation.loaded.path, invocation.cwd)
  const entries = await readExpected(place, values.accept)
  const expected = { entries, today: formatDay(new Date()), partial: isPartial(invocation) }
  if (!values.accept) return judgeExpecting(expected, invocation, listeners)
  const { acceptOutcome, refuseUnwritable } = await import('./accept.ts')
  await refuseUnwritable(place)
  const outcome = await judgeExpecting(expected, invocation, listeners)
  return { ...outcome, ...(await acceptOutcome(outcome, expected.entries, place, values, expected.today)) }
}

/** Somebody looks at less than the configuration names; `--strict` means it all the same. */
function isPartial({ only, words, asked, loaded, values }: Invocation): boolean {
  const isNamed = asked.some(({ kind }) => kind.isConfigured(loaded.config))
  return only !== undefined || (words.length > 0 && isNamed && !values.strict)
}

async function judgeExpecting(
  expected: ExpectedOutcomes,
  invocation: Invocation,
  listeners: RunListeners,
): Promise<JudgedOutcome> {
  const { cwd, values } = invocation
  const ours = join(cwd, '.assay')
  const folders = { runsFolder: resolve(cwd, values.outputDir), cacheFolder: resolve(cwd, values.cacheDir) }
  const pool = new LazyPool(invocation, listeners)
  try {
    const planned = await planAll(invocation, contextOf(invocation, listeners, pool, false))
    if (Object.values(folders).some((folder) => isInside(folder, ours))) await hideFromGit(ours)
    // Most of our code: a mistake in the command line is answered without it.
    const { executeRun } = await import('../runs/execute/execute.ts')
    const outcome = await executeRun({
      ...(await planRequest(invocation, planned, listeners.notice, expected)),
      expected,
      ...folders,
      cacheMaxBytes: values.cacheSize,
      reporters: listeners.reporters,
      environment: describeEnvironment(),
      options: recordedOptions(invocation),
      jobs: countJobs(values),
      ...(values.maxFailures === undefined ? {} : { maxFailures: values.maxFailures }),
      recompute: values.recompute,
      keep: values.keep,
      strict: values.strict,
      passWithNoTests: values.passWithNoTests,
      reproduce: makeReproduce(invocation),
      ...(listeners.signals && { signals: listeners.signals }),
    })
    const notes = planned.flatMap((one) => one.notes?.() ?? [])
    const problems = [...outcome.problems, ...notes.flatMap((each) => each.problems)]
    return { ...outcome, problems, notes, ifInterrupted: planned.flatMap((one) => one.ifInterrupted ?? []) }
  } finally {
    await pool.close()
  }
}

/** The plan of an invocation; nothing runs. */
export async function list(invocation: Invocation, notice: Notice): Promise<ListedCases> {
  const pool = new LazyPool(invocation, { notice })
  try {
    const planned = await planAll(invocation, contextOf(invocation, { notice }, pool, true))
    const { planRun } = await import('../runs/plan/plan.ts')
    const { header } = await planRun(await planRequest(invocation, planned, notice))
    return header
  } finally {
    await pool.close()
  }
}

/** What is printed instead of a run; null: a run was asked for. */
export async function answer(invocation: Invocation, notice: Notice): Promise<Answer | null> {
  const pool = new LazyPool(invocation, { notice })
  try {
    const context = contextOf(invocation, { notice }, pool, true)
    const selected = async () => (await list(invocation, notice)).selected
    for (const { work, asked } of invocation.asked) {
      const given = await work.answer?.(asked, context, selected)
      if (given) return given
    }
    return null
  } finally {
    await pool.close()
  }
}

type PlanListeners = Pick<RunListeners, 'notice' | 'onOutput'>

function contextOf(
  invocation: Invocation,
  { notice, onOutput }: PlanListeners,
  pool: LazyPool,
  lists: boolean,
): PlanContext {
  const done = new Map<string, Promise<unknown>>()
  return {
    pool: () => pool.open(),
    once: <T>(key: string, make: () => Promise<T>) => remember(done, key, make) as Promise<T>,
    lists,
    ...(invocation.only && { only: invocation.only }),
    isAgain: invocation.isAgain ?? false,
    machine: describeEnvironment(),
    notice,
    ...(onOutput && { onOutput }),
  }
}

async function planAll({ asked }: Invocation, context: PlanContext): Promise<Planned[]> {
  const planned: Planned[] = []
  for (const { work, asked: what } of asked) planned.push(await work.plan(what, context))
  return planned
}

/** Where an entry stands does not matter to a plan, what it says does. */
function saidBy({ entries }: ExpectedOutcomes): unknown {
  return entries.map(({ place: _place, ...said }) => said)
}

async function planRequest(
  invocation: Invocation,
  planned: readonly Planned[],
  notice: Notice,
  expected?: ExpectedOutcomes,
): Promise<PlanRequest> {
  const { cwd, values } = invocation
  const { keyword, pattern, shard, durations } = values
  const [{ readDurations }, { parseShard }] = await Promise.all([
    import('../runs/plan/durations.ts'),
    import('../runs/plan/shard.ts'),
  ])
  const choices = Object.assign({}, ...planned.map((one) => one.choices))
  return {
    suites: planned.flatMap(({ suites }) => suites),
    select: { ...(keyword !== undefined && { keyword }), ...(pattern !== undefined && { pattern }) },
    ...(values.lastFailed && { narrow: (cases) => narrowToFailed(cases, invocation, notice) }),
    shard: shard === undefined ? null : parseShard(shard),
    ...(durations !== undefined && { durations: await readDurations(resolve(cwd, durations)) }),
    sameForAllShards: JSON.parse(
      JSON.stringify(
        { ...choices, ...(expected && expected.entries.length > 0 && { expected: saidBy(expected) }) },
        (_key, value) => (typeof value === 'function' ? String(value) : value),
      ),
    ),
  }
}

async function narrowToFailed(cases: readonly Case[], { cwd, values }: Invocation, notice: Notice) {
  const { lastFailed } = await import('../runs/plan/last-failed.ts')
  const failed = await lastFailed(resolve(cwd, values.outputDir), cases, values.strict)
  if (!failed && cases.length > 0) notice('no failures recorded, or no earlier run: judging all cases')
  return failed
}

/** All options as they were understood, without secrets. */
function recordedOptions({ command, words, values, loaded, cwd, asked, table }: Invocation): Record<string, unknown> {
  const given = Object.assign({ ...values }, ...asked.map(({ request }) => request.values))
  for (const { key, kind } of listSpecs(table)) {
    const value = given[key]
    if (kind.word && Array.isArray(value)) given[key] = value.map(kind.word)
  }
  const paths = words.length > 0 ? words : (loaded.config.models ?? [])
  return { ...given, command, paths, config: loaded.path && relative(cwd, loaded.path) }
}
