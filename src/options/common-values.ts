import type { Environment } from '../domain/environment.ts'
import { UsageError } from '../domain/errors.ts'
import { dayProblem, formatDay, issueProblem } from '../domain/expected-failure.ts'
import type { COMMON_OPTIONS } from './common.ts'
import type { Values } from './table.ts'

type GivenCommon = Values<typeof COMMON_OPTIONS>

/** Values that every run reads, whatever its suites. */
export interface CommonValues extends Omit<GivenCommon, 'failFast' | 'reporter'> {
  readonly reporter: readonly string[]
}

/** Checks options against each other. */
export function commonValues({ failFast, ...given }: GivenCommon, environment: Environment): CommonValues {
  refuseUnwatchable(given)
  checkAcceptance(given)
  return {
    ...given,
    maxFailures: failFast ? 1 : given.maxFailures,
    reporter: given.reporter ?? defaultReporters(environment),
  }
}

function refuseUnwatchable(given: Pick<GivenCommon, 'watch' | 'json' | 'list' | 'shard' | 'accept'>): void {
  const other = given.watch && (['json', 'list', 'shard', 'accept'] as const).find((key) => given[key])
  if (other)
    throw new UsageError('option', `--watch is interactive and --${other} is for a single run; leave one of them out`)
}

/** Checked before anything runs. */
function checkAcceptance({ accept, issue, expires }: Pick<GivenCommon, 'accept' | 'issue' | 'expires'>): void {
  const flag = issue !== undefined ? '--issue' : expires !== undefined ? '--expires' : null
  if (flag && !accept) throw new UsageError('option', `${flag} needs --accept, which writes expected failures`)
  const problem = (issue !== undefined && issueProblem(issue)) || (expires && dayProblem(expires))
  if (problem) throw new UsageError('option', `--${problem}`)
  if (expires !== undefined && expires <= formatDay(new Date())) {
    throw new UsageError('option', `--expires ${expires} is not in the future, so the entries would have no effect`)
  }
}

function defaultReporters(environment: Environment): string[] {
  return environment.GITHUB_ACTIONS === 'true' ? ['terminal', 'github'] : ['terminal']
}
