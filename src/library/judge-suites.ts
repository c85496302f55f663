import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { dayOf } from '../domain/expected-failure.ts'
import { redactText } from '../domain/redact.ts'
import type { Reporter } from '../domain/run.ts'
import { hideFromGit } from '../files/disk/hide-from-git.ts'
import { isInside } from '../files/disk/is-inside.ts'
import type { Accepted } from '../reporters/accepted-lines.ts'
import type { Case } from '../runs/contract.ts'
import { executeRun, type RunOutcome, type RunSignals } from '../runs/execute/execute.ts'
import type { ExpectedOutcomes } from '../runs/execute/expected-failures.ts'
import { readDurations } from '../runs/plan/durations.ts'
import { lastFailed } from '../runs/plan/last-failed.ts'
import { type PlanRequest, planRun } from '../runs/plan/plan.ts'
import { parseShard } from '../runs/plan/shard.ts'
import type { LaunchContext } from '../runtimes/contract.ts'
import { createPool, type Pool } from '../runtimes/host/pool.ts'
import type { WarmWorkers } from '../runtimes/host/warm-workers.ts'
import { expectedPlace, readExpected } from '../settings/expected-place.ts'
import type { TestValues } from '../settings/test-values.ts'
import { describeEnvironment } from './environment.ts'
import { type Invocation, reproduceOf } from './invocation.ts'

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
  listeners: RunListeners,
  planSuites: PlanSuites,
): Promise<JudgedOutcome> {
  const { values } = invocation
  const place = expectedPlace(values.expected, invocation.loaded.path, invocation.cwd)
  const entries = await readExpected(place, values.accept)
  const expected = { entries, today: dayOf(new Date()), partial: isPartial(invocation) }
  if (!values.accept) return judgeExpecting(expected, invocation, listeners, planSuites)
  const { acceptOutcome, refuseUnwritable } = await import('./accept.ts')
  await refuseUnwritable(place)
  const outcome = await judgeExpecting(expected, invocation, listeners, planSuites)
  return { ...outcome, ...(await acceptOutcome(outcome, expected.entries, place, values, expected.today)) }
}

/** Somebody looks at fewer models than the configuration names; `--strict` means it all the same. */
function isPartial({ only, givenPaths, loaded, values }: Invocation): boolean {
  return only !== undefined || (givenPaths.length > 0 && loaded.config.models !== undefined && !values.strict)
}

async function judgeExpecting(
  expected: ExpectedOutcomes,
  invocation: Invocation,
  listeners: RunListeners,
  planSuites: PlanSuites,
): Promise<RunOutcome> {
  const { cwd, values } = invocation
  const ours = join(cwd, '.assay')
  const folders = { runsFolder: resolve(cwd, values.outputDir), cacheFolder: resolve(cwd, values.cacheDir) }
  if (Object.values(folders).some((folder) => isInside(folder, ours))) await hideFromGit(ours)
  const pool = poolFor(invocation, listeners)
  try {
    return await executeRun({
      ...(await planRequest(invocation, await planSuites(pool), listeners.notice, expected)),
      expected,
      ...folders,
      cacheMaxBytes: values.cacheSize,
      reporters: listeners.reporters,
      environment: describeEnvironment(),
      options: recordedOptions(invocation),
      jobs: jobsOf(values),
      ...(values.maxFailures === undefined ? {} : { maxFailures: values.maxFailures }),
      recompute: values.recompute,
      keep: values.keep,
      strict: values.strict,
      passWithNoTests: values.passWithNoTests,
      reproduce: reproduceOf(invocation),
      ...(listeners.signals && { signals: listeners.signals }),
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
  if (!failed && cases.length > 0) notice('no failures recorded, or no earlier run: judging all cases')
  return failed
}

type PoolListeners = Pick<RunListeners, 'notice' | 'onOutput' | 'workers'>

function poolFor(
  { cwd, environment, values, toolchains }: Invocation,
  { notice, onOutput, workers }: PoolListeners,
): Pool {
  const folders = { projectFolder: cwd, runtimesFolder: join(cwd, '.assay', 'runtimes') }
  const { python } = values
  const context: LaunchContext = {
    ...folders,
    environment,
    usesProject: !values.noConfig,
    toolchains,
    owner: randomBytes(16).toString('hex'),
    notice,
    ...(onOutput && { onOutput }),
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
  const shown = { target: values.target?.map(redactText), reference: values.reference?.map(redactText) }
  return { ...values, ...shown, command, paths, config: loaded.path && relative(cwd, loaded.path) }
}
