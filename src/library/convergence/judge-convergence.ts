import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { ConvergenceSettings } from '../../settings/assay-config.ts'
import { joinWords } from '../../suites/convergence/curves/step-list.ts'
import { gatherSuite } from '../../suites/convergence/gather/gather-suite.ts'
import type { ConvergenceOptions, PlannedTest } from '../../suites/convergence/planned-test.ts'
import { DEFAULT_MANIFEST } from '../../suites/convergence/storage/storage.ts'
import { convergenceSuite, renewalSuite } from '../../suites/convergence/suite.ts'
import { describeEnvironment } from '../environment.ts'
import { type Invocation, reproduceOf } from '../invocation.ts'
import { type JudgedOutcome, judgeSuites, listSuites, type Planned, type RunListeners } from '../judge-suites.ts'
import { type ConvergeInvocation, plannedTests } from './converge-invocation.ts'
import { gitStates } from './git-state.ts'

/** What is done with the windows of a storage. */
export type ConvergeAction = 'judge' | 'renew'

/** Gathers, replays or renews training curves. */
export function judgeConvergence(
  invocation: ConvergeInvocation,
  listeners: RunListeners,
  action: ConvergeAction = 'judge',
): Promise<JudgedOutcome> {
  return judgeSuites(invocation, listeners, async () => {
    const work = await planned(invocation, listeners, action)
    if (invocation.converge.gather) await Promise.all(work.tests.map(({ storage }) => storage.create()))
    return work
  })
}

/** The ids of the cases; no program is started. */
export function listConvergence(
  invocation: ConvergeInvocation,
  notice: RunListeners['notice'],
): ReturnType<typeof listSuites> {
  return listSuites(invocation, notice, () => planned(invocation, { notice }, 'judge'))
}

/** The training that the configuration names, for a run of everything. */
export async function configuredConvergence(
  invocation: Invocation,
  sections: readonly ConvergenceSettings[],
  notice: RunListeners['notice'],
): Promise<Planned> {
  const { cwd, loaded } = invocation
  // As written beside the configuration.
  const base = loaded.path === null ? cwd : dirname(loaded.path)
  const named = sections.map((section) =>
    plannedTests(invocation, { manifestName: DEFAULT_MANIFEST, root: undefined, ...section }, { notice }, base),
  )
  const tests = (await Promise.all(named)).flat()
  for (const test of tests) refuseMissingFolder(test)
  const options = { ...optionsOf(invocation, tests), seeds: [] }
  return { suites: [convergenceSuite(options)], choices: { convergence: tests.map(({ test }) => test.digest) } }
}

function optionsOf(invocation: Invocation, tests: readonly PlannedTest[]): Omit<ConvergenceOptions, 'seeds'> {
  const isAlone = invocation.values.jobs === undefined
  const state = { environment: describeEnvironment(), git: gitStates(invocation.environment) }
  return { tests, isAlone, ...state, reproduce: reproduceOf(invocation) }
}

async function planned(
  invocation: ConvergeInvocation,
  told: Pick<RunListeners, 'notice' | 'onOutput'>,
  action: ConvergeAction,
): Promise<Planned & { readonly tests: readonly PlannedTest[] }> {
  const { converge } = invocation
  const tests = await plannedTests(invocation, converge, told)
  for (const test of tests) refuseMissingFolder(test)
  const options = { ...optionsOf(invocation, tests), seeds: converge.seeds }
  const choices = { convergence: { tests: tests.map(({ test }) => test.digest), seeds: converge.seeds } }
  if (converge.gather) return { tests, suites: [gatherSuite({ ...options, startOver: converge.startOver })], choices }
  await refuseUngathered(tests, converge.storagePath)
  return { tests, suites: [action === 'renew' ? renewalSuite(options) : convergenceSuite(options)], choices }
}

function refuseMissingFolder({ test, cwd }: PlannedTest): void {
  if (existsSync(cwd)) return
  const text = `directory "${test.directory}" of ${test.name} is not there: looked for ${cwd}`
  throw new UsageError('converge', `${text}; it is relative to the git root of the configuration, or to --root`)
}

async function refuseUngathered(tests: readonly PlannedTest[], storage: string): Promise<void> {
  if (tests.some((test) => test.storage.exists)) return
  const [first] = tests
  const wanted = first ? `: looked for ${first.storage.shownManifest}` : ''
  const others = await manifestsIn(first?.storage.folder)
  const hint =
    others.length > 0
      ? `there ${others.length === 1 ? 'is' : 'are'} ${joinWords(others)}; a manifest is called <test>_<--manifest-name>`
      : 'gather known-good training with -g first'
  const what = others.length > 0 ? 'nothing of this' : 'nothing'
  throw new UsageError('converge', `${what} was gathered in ${storage} yet${wanted}; ${hint}`)
}

async function manifestsIn(folder: string | undefined): Promise<string[]> {
  const names = folder === undefined ? [] : await readdir(folder).catch(() => [])
  return names.filter((name) => /_.*\.json$/.test(name) && !name.endsWith('.assay.json')).sort()
}
