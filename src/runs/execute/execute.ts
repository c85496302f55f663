import { setMaxListeners } from 'node:events'
import type { Clock } from '../../domain/clock.ts'
import { UsageError } from '../../domain/errors.ts'
import type { Result } from '../../domain/result.ts'
import type { Reporter, RunHeader } from '../../domain/run.ts'
import { EXIT } from '../../domain/verdict.ts'
import { ProductCache } from '../cache/cache.ts'
import { RunSpace } from '../cache/run-space.ts'
import type { Case } from '../contract.ts'
import { type Expectations, type ExpectedOutcomes, expectationsFor } from '../expected/expected-failures.ts'
import { type Plan, type PlannedWork, type PlanRequest, planRun } from '../plan/plan.ts'
import { runSchedule, Schedule } from '../plan/schedule.ts'
import { hideSecrets } from '../record/hide-secrets.ts'
import { type NewRun, type RunEnd, RunRecord } from '../record/record.ts'
import { isFailure, summarise } from '../record/summary.ts'
import { Announcer } from './announcer.ts'
import { describeError } from './blame.ts'
import { CaseClock } from './case-clock.ts'
import { type Judged, judgeCase } from './judge-case.ts'
import { CaseLab, RunLab } from './lab.ts'

export interface RunRequest extends PlanRequest {
  readonly runsFolder: string
  readonly cacheFolder: string
  readonly cacheMaxBytes?: number
  readonly reporters: readonly Reporter[]
  readonly environment: Readonly<Record<string, string>>
  /** Resolved options, for the record. */
  readonly options: Readonly<Record<string, unknown>>
  /** Cases judged at once. */
  readonly jobs: number
  /** Limit of a case's own time, over all its stages. */
  readonly caseTimeoutMs?: number
  /** Measures that limit; the system's by default. */
  readonly clock?: Clock
  readonly maxFailures?: number
  readonly recompute?: boolean
  /** Every intermediate product stays with the run. */
  readonly keep?: boolean
  readonly strict?: boolean
  readonly passWithNoTests?: boolean
  readonly expected?: ExpectedOutcomes
  /** The command line that judges one case again. */
  readonly reproduce: (id: string) => string
  readonly signals?: RunSignals
}

export interface RunSignals {
  /** Begin no more cases, finish those that run. */
  readonly stop: AbortSignal
  /** End now. */
  readonly abort: AbortSignal
}

export interface RunOutcome {
  readonly header: RunHeader
  readonly results: readonly Result[]
  readonly folder: string
  readonly exitCode: number
  /** Reporters that failed, in words. */
  readonly problems: readonly string[]
}

/** Collects, judges and records; everything that concerns a case becomes its result, the rest is thrown. */
export async function executeRun(request: RunRequest): Promise<RunOutcome> {
  refuseNoJobs(request.jobs)
  const plan = await planRun(request)
  const announcer = new Announcer(request.reporters)
  const notice = (text: string) => void announcer.emit({ type: 'notice', text })
  const cache = await ProductCache.open({
    folder: request.cacheFolder,
    ...(request.cacheMaxBytes !== undefined && { maxBytes: request.cacheMaxBytes }),
    notice,
  })
  const space = new RunSpace({ onDisk: () => cache.makeFolder() })
  try {
    const record = await RunRecord.create(request.runsFolder, newRun(request, plan))
    return await new Execution(request, plan, announcer, record, { cache, space }).run()
  } finally {
    await space.close()
    await cache.close()
  }
}

/** What decides the exit code is always recorded: merging needs it. */
function newRun(request: RunRequest, plan: Plan): NewRun {
  const { shard = null, environment, strict = false, passWithNoTests = false } = request
  return { shard, environment, options: { ...request.options, strict, passWithNoTests }, plan: plan.header }
}

function refuseNoJobs(jobs: number): void {
  if (!Number.isInteger(jobs) || jobs < 1)
    throw new UsageError('jobs', `--jobs ${jobs}: expected a whole number from 1`)
}

interface Stores {
  readonly cache: ProductCache
  readonly space: RunSpace
}

class Execution {
  readonly #request: RunRequest
  readonly #plan: Plan
  readonly #announcer: Announcer
  readonly #record: RunRecord
  readonly #lab: RunLab
  readonly #signals: RunSignals
  readonly #expectations: Expectations
  /** As the suites judged them; nobody's say in another verdict depends on what is expected. */
  readonly #judged = new Map<string, Result>()
  readonly #results: Result[] = []
  readonly #startedMs = performance.now()
  readonly #unsettled: { readonly settle: NonNullable<Judged['settle']>; readonly durationMs: number }[] = []
  #failures = 0
  #problem: string | null = null

  constructor(request: RunRequest, plan: Plan, announcer: Announcer, record: RunRecord, stores: Stores) {
    const never = new AbortController().signal
    this.#request = request
    this.#plan = plan
    this.#announcer = announcer
    this.#record = record
    const { recompute = false, keep = false } = request
    this.#lab = new RunLab({ ...stores, runFolder: record.folder, recompute, keepsAll: keep })
    this.#signals = request.signals ?? { stop: never, abort: never }
    // Every case in flight listens, and from the eleventh on Node would warn of a leak.
    setMaxListeners(0, this.#signals.abort)
    this.#expectations = expectationsFor(request.expected ?? { entries: [], today: '' }, plan.collected)
  }

  async run(): Promise<RunOutcome> {
    const { folder } = this.#record
    await this.#announcer.emit({ type: 'run-start', run: this.#record.header, folder })
    await this.#judgeAll()
    const results = this.#inPlanOrder()
    const header = await this.#finish(results)
    await this.#announcer.emit({ type: 'run-end', run: header, results, folder })
    const exitCode = header.summary?.exitCode ?? EXIT.internal
    return { header, results, folder, exitCode, problems: this.#announcer.problems }
  }

  /** A case whose time is limited must not spend it on others. */
  #expectAll(): void {
    if (this.#request.caseTimeoutMs !== undefined) return
    for (const suite of this.#request.suites) {
      suite.expect?.(this.#plan.work.filter((work) => work.suite === suite).map(({ c }) => c))
    }
  }

  async #judgeAll(): Promise<void> {
    this.#expectAll()
    const workOf = new Map(this.#plan.work.map((work) => [work.c, work]))
    const schedule = new Schedule([...workOf.keys()])
    const judge = async (c: Case) => {
      try {
        await this.#judge(workOf.get(c)!)
      } catch (error) {
        await this.#giveUp(describeError(error))
      }
    }
    await runSchedule(schedule, this.#request.jobs, judge, () => this.#isStopped())
    await this.#settleAll()
  }

  async #giveUp(problem: string): Promise<void> {
    if (this.#problem !== null) return
    this.#problem = problem
    await this.#announcer.emit({ type: 'notice', text: `the run cannot go on: ${problem}` })
  }

  #isStopped(): boolean {
    const { maxFailures = Infinity } = this.#request
    const { stop, abort } = this.#signals
    return stop.aborted || abort.aborted || this.#failures >= maxFailures || this.#problem !== null
  }

  async #judge(work: PlannedWork): Promise<void> {
    const { id } = work.c
    const { caseTimeoutMs = null } = this.#request
    const clock = new CaseClock(caseTimeoutMs, this.#signals.abort, this.#request.clock)
    const lab = new CaseLab(this.#lab, clock, {
      onStep: ({ title, stage }) => void this.#announcer.emit({ type: 'step-start', id, title, stage }),
      onProgress: (text) => void this.#announcer.emit({ type: 'step-progress', id, text }),
    })
    const startedMs = performance.now()
    await this.#announcer.emit({ type: 'case-start', id })
    const { result, settle } = await judgeCase(work, lab, this.#request.reproduce(id))
    await lab.close()
    if (this.#signals.abort.aborted) return
    const durationMs = performance.now() - startedMs
    if (settle) this.#unsettled.push({ settle, durationMs })
    else await this.#take(result, durationMs)
    if (this.#isFailure(result, settle === null)) this.#failures++
  }

  /** While others have a say in it, only what no entry and no other case can excuse. */
  #isFailure(result: Result, isSettled: boolean): boolean {
    if (!isSettled) return isFailure(result.verdict) && !this.#expectations.mayExcuse(result.id)
    return isFailure(this.#expectations.apply(result).verdict, this.#request.strict)
  }

  /** Those in whose verdict others have a say, when there are no more others. */
  async #settleAll(): Promise<void> {
    const known = new Map(this.#judged)
    for (const { settle, durationMs } of this.#unsettled) await this.#take(settle(known), durationMs)
  }

  async #take(judged: Result, durationMs: number): Promise<void> {
    this.#judged.set(judged.id, judged)
    const result = hideSecrets(this.#expectations.apply(judged))
    this.#record.append(result)
    this.#results.push(result)
    const done = this.#results.length
    await this.#announcer.emit({ type: 'case-end', result, durationMs, done, total: this.#plan.work.length })
  }

  #inPlanOrder(): Result[] {
    const places = new Map(this.#plan.header.selected.map((id, i) => [id, i]))
    return [...this.#results].sort((a, b) => places.get(a.id)! - places.get(b.id)!)
  }

  async #finish(results: readonly Result[]): Promise<RunHeader> {
    const end = this.#end(results)
    try {
      return await this.#record.finish(end)
    } catch (error) {
      const problem = this.#problem ?? describeError(error)
      await this.#announcer.emit({ type: 'notice', text: `the end of the run could not be recorded: ${problem}` })
      return { ...this.#record.header, ...this.#failed(end, problem) }
    }
  }

  #end(results: readonly Result[]): RunEnd {
    const { strict = false, passWithNoTests = false } = this.#request
    const interrupted = this.#signals.stop.aborted || this.#signals.abort.aborted
    const durationMs = performance.now() - this.#startedMs
    const exit = { strict, passWithNoTests, interrupted }
    const summary = summarise(results, durationMs, exit, this.#expectations.stale)
    if (this.#problem !== null) return this.#failed({ state: 'failed', summary }, this.#problem)
    if (interrupted) return { state: 'interrupted', summary }
    const left = this.#plan.work.length - results.length
    if (left === 0) return { state: 'complete', summary }
    return {
      state: 'complete',
      summary,
      problem: `stopped at the limit of failures (${this.#failures}); not judged: ${left} of ${this.#plan.work.length} cases`,
    }
  }

  #failed(end: RunEnd, problem: string): RunEnd {
    const summary = end.summary && { ...end.summary, exitCode: EXIT.internal }
    return { state: 'failed', summary, problem }
  }
}
