import type { Environment } from '../domain/environment.ts'
import { UsageError } from '../domain/errors.ts'
import { dayOf, dayProblem, issueProblem } from '../domain/expected-failure.ts'
import { unknown } from '../domain/target.ts'
import type { OptionValue } from './options.ts'

/** The options of `test` and `list`, typed. */
export interface TestValues {
  readonly reference: readonly string[] | undefined
  readonly target: readonly string[] | undefined
  readonly hw: string | undefined
  readonly chip: string | undefined
  readonly board: string | undefined
  readonly scope: string
  readonly layerGroup: readonly string[]
  readonly layerInputs: string
  readonly keyword: string | undefined
  readonly pattern: string | undefined
  readonly lastFailed: boolean
  readonly shard: string | undefined
  readonly durations: string | undefined
  readonly seed: number
  readonly dim: readonly string[]
  readonly input: readonly string[]
  readonly rtol: number | undefined
  readonly atol: number | undefined
  readonly allowedMismatch: number | undefined
  readonly jobs: number | undefined
  readonly timeout: number
  readonly memoryLimit: number
  readonly outputLimit: number
  readonly python: string | undefined
  readonly isolate: 'case' | undefined
  readonly maxFailures: number | undefined
  readonly recompute: boolean
  readonly watch: boolean
  readonly keep: boolean
  readonly strict: boolean
  readonly passWithNoTests: boolean
  readonly expected: string | undefined
  readonly accept: boolean
  readonly issue: string | undefined
  readonly expires: string | undefined
  readonly list: boolean
  readonly json: boolean
  readonly reporter: readonly string[]
  readonly outputDir: string
  readonly cacheDir: string
  readonly cacheSize: number
  readonly showOutput: boolean
  readonly debugIr: string | undefined
  readonly force: boolean
  readonly verbose: boolean
  readonly color: boolean | undefined
}

/** Checks what one option alone cannot know. */
export function testValues(raw: Readonly<Record<string, OptionValue>>, environment: Environment): TestValues {
  const { failFast, isolate, jobs, seed, ...values } = raw
  if (isolate !== undefined && isolate !== 'case')
    throw unknown('option', `--isolate "${isolate}"`, String(isolate), ['case'])
  refuseUnwatchable(raw)
  checkWhole('--jobs', jobs, 1)
  checkWhole('--seed', seed, 0)
  checkWhole('--max-failures', raw.maxFailures, 1)
  checkAcceptance(raw)
  checkDump(raw.debugIr, raw.force)
  const maxFailures = failFast ? 1 : raw.maxFailures
  const defaults = {
    layerGroup: [],
    dim: [],
    input: [],
    accept: false,
    list: false,
    json: false,
    reporter: defaultReporters(environment),
  }
  const checked: Record<string, unknown> = { ...defaults, ...defined(values), isolate, jobs, seed, maxFailures }
  return checked as { [K in keyof TestValues]: TestValues[K] }
}

/** They are for one run that somebody else reads. */
function refuseUnwatchable(raw: Readonly<Record<string, OptionValue>>): void {
  const other = raw.watch && (['json', 'list', 'shard', 'accept'] as const).find((key) => raw[key])
  if (other) throw new UsageError('option', `--watch is for people, --${other} for one run; leave one of them out`)
}

/** Before anything runs. */
function checkAcceptance({ accept, issue, expires }: Readonly<Record<string, OptionValue>>): void {
  const given = issue !== undefined ? '--issue' : expires !== undefined ? '--expires' : null
  if (given && !accept) throw new UsageError('option', `${given} goes with --accept, which writes expected failures`)
  const problem = (issue !== undefined && issueProblem(String(issue))) || (expires && dayProblem(String(expires)))
  if (problem) throw new UsageError('option', `--${problem}`)
  if (expires !== undefined && String(expires) <= dayOf(new Date())) {
    throw new UsageError('option', `--expires ${expires} is not in the future, so the entries would excuse nothing`)
  }
}

function defaultReporters(environment: Environment): string[] {
  return environment.GITHUB_ACTIONS === 'true' ? ['terminal', 'github'] : ['terminal']
}

function defined(values: Readonly<Record<string, OptionValue>>): Record<string, OptionValue> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** The next flag is easily taken for the folder. */
function checkDump(folder: OptionValue, force: OptionValue): void {
  if (force && folder === undefined)
    throw new UsageError('option', '--force is only for --debug-ir, which is not given')
  if (folder === undefined || !/^-|^$/.test(String(folder))) return
  throw new UsageError(
    'option',
    `--debug-ir takes the folder to write into, as in --debug-ir ir_dump; found "${folder}"`,
  )
}

function checkWhole(flag: string, value: OptionValue, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= least)) return
  throw new UsageError('option', `${flag} takes a whole number from ${least} up, found "${value}"`)
}
