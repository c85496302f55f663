import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { dayOf } from '../domain/expected-failure.ts'
import type { Reporter } from '../domain/run.ts'
import type { Accepted } from '../reporters/accepted-lines.ts'
import type { Case } from '../runs/contract.ts'
import { readDurations } from '../runs/durations.ts'
import { executeRun, type RunOutcome, type RunSignals } from '../runs/execute.ts'
import type { ExpectedOutcomes } from '../runs/expected-failures.ts'
import { lastFailed } from '../runs/last-failed.ts'
import { type PlanRequest, planRun } from '../runs/plan.ts'
import { parseShard } from '../runs/shard.ts'
import type { LaunchContext } from '../runtimes/contract.ts'
import { createPool, type Pool } from '../runtimes/pool.ts'
import type { WarmWorkers } from '../runtimes/warm-workers.ts'
import { expectedPlace, readExpected } from '../settings/expected-place.ts'
import type { TestValues } from '../settings/test-values.ts'
import { describeEnvironment } from './environment.ts'
import { hideFromGit } from './hide-from-git.ts'
import { type Invocation, reproduceOf } from './invocation.ts'

export interface Audience {
  readonly reporters: readonly Reporter[]
  readonly signals?: RunSignals
  /** What has no place in an event, such as that a runtime is being installed. */
  readonly notice: Notice
  /** What tools print, as it comes. */
  readonly hear?: LaunchContext['hear']
  /** Workers that stay for the next run in this process; whoever gives them closes them. */
  readonly workers?: WarmWorkers
}

type Notice = (text: string) => void

export interface JudgedOutcome extends RunOutcome {
  /** What `--accept` wrote. */
  readonly accepted?: Accepted
}

/** The suites of an invocation, and what decides their verdicts: all shards of a run must have the same. */
export interface Planned extends Pick<PlanRequest, 'suites'> {
  readonly choices: unknown
}

export interface ListedCases {
  readonly cases: readonly string[]
  readonly selected: readonly string[]
}

export type PlanSuites = (pool: Pool) => Promise<Planned>

/** Judges the cases of an invocation, records the run and, where that is asked for, accepts what fails. */
export async function judgeSuites(
  invocation: Invocation,
  audience: Audience,
  planSuites: PlanSuites,
): Promise<JudgedOutcome> {
  const { values } = invocation
  const place = expectedPlace(values.expected, invocation.loaded.path, invocation.cwd)
  const entries = await readExpected(place, values.accept)
  const expected = { entries, today: dayOf(new Date()), partial: isPartial(invocation) }
  if (!values.accept) return judgeExpecting(expected, invocation, audience, planSuites)
  const { acceptOutcome, refuseUnwritable } = await import('./accept.ts')
  await refuseUnwritable(place)
  const outcome = await judgeExpecting(expected, invocation, audience, planSuites)
  return { ...outcome, ...(await acceptOutcome(outcome, expected.entries, place, values, expected.today)) }
}

/** Somebody looks at fewer models than the configuration names; `--strict` means it all the same. */
function isPartial({ only, givenPaths, loaded, values }: Invocation): boolean {
  return only !== undefined || (givenPaths.length > 0 && loaded.config.models !== undefined && !values.strict)
}

async function judgeExpecting(
  expected: ExpectedOutcomes,
  invocation: Invocation,
  audience: Audience,
  planSuites: PlanSuites,
): Promise<RunOutcome> {
  const { cwd, values } = invocation
  await hideFromGit(join(cwd, '.assay'))
  const pool = poolFor(invocation, audience)
  try {
    return await executeRun({
      ...(await planRequest(invocation, await planSuites(pool), audience.notice, expected)),
      expected,
      runsFolder: resolve(cwd, values.outputDir),
      cacheFolder: resolve(cwd, values.cacheDir),
      cacheMaxBytes: values.cacheSize,
      reporters: audience.reporters,
      environment: describeEnvironment(),
      options: recordedOptions(invocation),
      jobs: jobsOf(values),
      ...(values.maxFailures === undefined ? {} : { maxFailures: values.maxFailures }),
      recompute: values.recompute,
      keep: values.keep,
      strict: values.strict,
      passWithNoTests: values.passWithNoTests,
      reproduce: reproduceOf(invocation),
      ...(audience.signals && { signals: audience.signals }),
    })
  } finally {
    await pool.close()
  }
}

/** The plan of an invocation; nothing runs. */
export async function listSuites(invocation: Invocation, notice: Notice, planSuites: PlanSuites): Promise<ListedCases> {
  const pool = poolFor(invocation, { notice })
  try {
    const planned = await planSuites(pool)
    const { header } = await planRun(await planRequest(invocation, planned, notice))
    return header
  } finally {
    await pool.close()
  }
}

/** Where an entry stands does not matter to a plan, what it says does. */
function saidBy({ entries }: ExpectedOutcomes): unknown {
  return entries.map(({ place: _place, ...said }) => said)
}

async function planRequest(
  invocation: Invocation,
  { suites, choices }: Planned,
  notice: Notice,
  expected?: ExpectedOutcomes,
): Promise<PlanRequest> {
  const { cwd, values } = invocation
  const { keyword, pattern, shard, durations } = values
  return {
    suites,
    select: { ...(keyword !== undefined && { keyword }), ...(pattern !== undefined && { pattern }) },
    ...(values.lastFailed && { narrow: (cases) => narrowToFailed(cases, invocation, notice) }),
    shard: shard === undefined ? null : parseShard(shard),
    ...(durations !== undefined && { durations: await readDurations(resolve(cwd, durations)) }),
    sameForAllShards: JSON.parse(
      JSON.stringify(
        { ...Object(choices), ...(expected && expected.entries.length > 0 && { expected: saidBy(expected) }) },
        (_key, value) => (typeof value === 'function' ? String(value) : value),
      ),
    ),
  }
}

async function narrowToFailed(cases: readonly Case[], { cwd, values }: Invocation, notice: Notice) {
  const failed = await lastFailed(resolve(cwd, values.outputDir), cases, values.strict)
  if (!failed && cases.length > 0) notice('nothing failed when it was last judged, or nothing was: judging all')
  return failed
}

type PoolAudience = Pick<Audience, 'notice' | 'hear' | 'workers'>

function poolFor({ cwd, environment, values, toolchains }: Invocation, { notice, hear, workers }: PoolAudience): Pool {
  const folders = { projectFolder: cwd, runtimesFolder: join(cwd, '.assay', 'runtimes') }
  const { python } = values
  const context: LaunchContext = {
    ...folders,
    environment,
    toolchains,
    owner: randomBytes(16).toString('hex'),
    notice,
    ...(hear && { hear }),
    ...(python !== undefined && { python }),
  }
  const stageMs = values.timeout * 1000
  return createPool({
    size: jobsOf(values),
    context,
    limits: {
      startMs: Math.min(stageMs, 60_000),
      compileMs: stageMs,
      runMs: stageMs,
      memoryBytes: values.memoryLimit,
      outputBytes: values.outputLimit,
    },
    ...(values.isolate === 'case' && { isolate: 'case' as const }),
    ...(workers && { warm: workers }),
  })
}

function jobsOf(values: TestValues): number {
  return values.jobs ?? availableParallelism()
}

function recordedOptions({ command, paths, values, loaded, cwd }: Invocation): Record<string, unknown> {
  return { command, paths, config: loaded.path && relative(cwd, loaded.path), ...values }
}
