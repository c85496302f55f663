import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Environment } from '../../../domain/environment.ts'
import { UsageError } from '../../../domain/errors.ts'
import type { Values } from '../../../options/table.ts'
import type { PlanContext, SuiteRequest } from '../../contract.ts'
import { readConvergenceTests } from '../config/read-tests.ts'
import type { CONVERGE_COMMAND_OPTIONS } from '../options/options.ts'
import type { ConvergenceSections, ConvergenceSettings } from '../options/section.ts'
import { convergeValues } from '../options/values.ts'
import type { PlannedTest } from '../planned-test.ts'
import { DEFAULT_MANIFEST, Storage } from '../storage/storage.ts'

export type ConvergeRequest = SuiteRequest<Values<typeof CONVERGE_COMMAND_OPTIONS>, ConvergenceSections>

/** What was asked for of training programs. */
export interface ConvergeAsked {
  readonly cwd: string
  readonly environment: Environment
  /** Tests and where they are kept; several where the configuration names them. */
  readonly sources: readonly TrainingSource[]
  /** Where their paths begin. */
  readonly base: string
  readonly isConfigured: boolean
  readonly gather: boolean
  readonly startOver: boolean
  readonly dryRun: boolean
  readonly seeds: readonly number[]
  /** Runs one program at a time, so that it has the devices to itself, unless --jobs says otherwise. */
  readonly isAlone: boolean
}

type TrainingSource = ConvergenceSettings & { readonly manifestName: string }

export function readConverge(request: ConvergeRequest): ConvergeAsked {
  const { cwd, environment, words, values, common, config, configPath, isConfigured } = request
  const isAlone = common.jobs === undefined
  const plain = { cwd, environment, isConfigured, isAlone }
  if (isConfigured) {
    const sources = (config.convergence ?? []).map((section) => ({ manifestName: DEFAULT_MANIFEST, ...section }))
    const base = configPath === null ? cwd : dirname(configPath)
    return { ...plain, sources, base, gather: false, startOver: false, dryRun: false, seeds: [] }
  }
  refuseWords(words)
  const { testConfigPath, storagePath, manifestName, root, gather, startOver, dryRun, seeds } = convergeValues(values)
  const source = { testConfigPath, storagePath, manifestName, ...(root !== undefined && { root }) }
  return { ...plain, sources: [source], base: cwd, gather, startOver, dryRun, seeds }
}

function refuseWords([first]: readonly string[]): void {
  if (first === undefined) return
  const isConfig = /\.ya?ml$/.test(first)
  const text = isConfig
    ? `write assay converge -t ${first} -s <storage>`
    : `assay converge takes no arguments, found "${first}"`
  throw new UsageError('converge', text)
}

type OutputListeners = Pick<PlanContext, 'notice' | 'onOutput'>

/** The tests that were asked for, with where they run and where they are kept. */
export async function plannedTests(asked: ConvergeAsked, listeners: OutputListeners): Promise<PlannedTest[]> {
  return (await Promise.all(asked.sources.map((source) => testsOf(source, asked, listeners)))).flat()
}

async function testsOf(
  { testConfigPath, storagePath, manifestName, root }: TrainingSource,
  { cwd, environment, base }: ConvergeAsked,
  { notice, onOutput }: OutputListeners,
): Promise<PlannedTest[]> {
  const path = resolve(base, testConfigPath)
  const tests = await readConvergenceTests(path, cwd)
  for (const { name, warnings } of tests) for (const warning of warnings) notice(`${name}: ${warning}`)
  const workFolder = root === undefined ? (gitRootOf(path) ?? base) : resolve(base, root)
  const folder = resolve(base, storagePath)
  return tests.map((test) => ({
    test,
    cwd: resolve(workFolder, test.directory),
    environment,
    storage: new Storage(folder, test, cwd, manifestName),
    tell: once((text) => notice(`${test.name}: ${text}`)),
    ...(onOutput && { onOutput }),
  }))
}

/** Each text the first time. */
function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (!said.has(text)) say(text)
    said.add(text)
  }
}

function gitRootOf(path: string): string | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return null
  }
}
