import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { UsageError } from '../../../domain/errors.ts'
import type { PlanContext, Planned } from '../../contract.ts'
import { joinWords } from '../curves/step-list.ts'
import { gatherSuite } from '../gather/gather-suite.ts'
import type { ConvergenceOptions, PlannedTest } from '../planned-test.ts'
import { convergenceSuite, renewalSuite } from '../suite.ts'
import { type ConvergeAsked, plannedTests } from './converge-asked.ts'
import { gitStates } from './git-state.ts'

/** The suite that gathers training, or replays it. */
export async function planConvergence(asked: ConvergeAsked, context: PlanContext): Promise<Planned> {
  const { gather, startOver } = asked
  const { tests, options, choices } = await planTests(asked, context)
  if (!gather) {
    if (!asked.isConfigured) await refuseUngathered(tests, asked)
    return { suites: [convergenceSuite(options)], choices }
  }
  if (!context.lists) await Promise.all(tests.map(({ storage }) => storage.create()))
  const ifInterrupted = 'recorded windows are kept; the same command continues from the last one'
  return { suites: [gatherSuite({ ...options, startOver })], choices, ifInterrupted }
}

/** The suite that makes the values of replays the reference. */
export async function planRenewal(asked: ConvergeAsked, context: PlanContext): Promise<Planned> {
  const { tests, options, choices } = await planTests(asked, context)
  await refuseUngathered(tests, asked)
  return { suites: [renewalSuite(options)], choices }
}

async function planTests(asked: ConvergeAsked, context: PlanContext) {
  const { seeds, isAlone, environment } = asked
  const tests = await plannedTests(asked, context)
  for (const test of tests) refuseMissingFolder(test)
  const state = { environment: context.machine, git: gitStates(environment) }
  const options: ConvergenceOptions = { tests, isAlone, seeds, ...state }
  return { tests, options, choices: { convergence: { tests: tests.map(({ test }) => test.digest), seeds } } }
}

function refuseMissingFolder({ test, cwd }: PlannedTest): void {
  if (existsSync(cwd)) return
  const text = `directory "${test.directory}" of ${test.name} is not there: looked for ${cwd}`
  throw new UsageError('converge', `${text}; it is relative to the git root of the configuration, or to --root`)
}

async function refuseUngathered(tests: readonly PlannedTest[], { sources }: ConvergeAsked): Promise<void> {
  if (tests.some((test) => test.storage.exists)) return
  const [first] = tests
  const wanted = first ? `: looked for ${first.storage.shownManifest}` : ''
  const others = await manifestsIn(first?.storage.folder)
  const hint =
    others.length > 0
      ? `there ${others.length === 1 ? 'is' : 'are'} ${joinWords(others)}; a manifest is called <test>_<--manifest-name>`
      : 'gather known-good training with -g first'
  const what = others.length > 0 ? 'none of these tests' : 'nothing'
  const storage = sources.map(({ storagePath }) => storagePath).join(', ')
  throw new UsageError('converge', `${what} was gathered in ${storage} yet${wanted}; ${hint}`)
}

async function manifestsIn(folder: string | undefined): Promise<string[]> {
  const names = folder === undefined ? [] : await readdir(folder).catch(() => [])
  return names.filter((name) => /_.*\.json$/.test(name) && !name.endsWith('.assay.json')).sort()
}
