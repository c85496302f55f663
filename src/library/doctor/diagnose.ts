import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { redact } from '../../domain/redact.ts'
import type { Target } from '../../domain/target.ts'
import { checkEnvironment } from '../../options/check-environment.ts'
import type { OptionSpec } from '../../options/table.ts'
import type { Finding } from '../../reporters/finding-lines.ts'
import { usualBrowsers } from '../../runtimes/chromium/find-browser.ts'
import { DEFAULT_LIMITS, type LaunchContext } from '../../runtimes/contract.ts'
import { createPool } from '../../runtimes/host/pool.ts'
import type { WarmWorkers } from '../../runtimes/host/warm-workers.ts'
import { forbidsConfig } from '../config/config-file.ts'
import { examineMachine } from './machine.ts'
import { examineRecords, examineSettings, type ProjectRequest, type ProjectSettings } from './project.ts'
import { type SurveyTools, surveyRuntimes, surveyTarget, type TargetReport } from './survey.ts'

export interface Diagnosis {
  readonly findings: readonly Finding[]
  readonly runtimes: readonly TargetReport[]
  readonly browsers: readonly { readonly name: string; readonly path: string | null }[]
  /** The sides of a run without further options; empty where its settings are refused. */
  readonly sides: { readonly reference: readonly TargetReport[]; readonly targets: readonly TargetReport[] }
  readonly works: boolean
}

const PROBE_LIMIT_MS = 30_000
const MOST_AT_ONCE = 4

/** Looks at everything that a run needs; installs nothing, asks no network. */
export async function diagnose(
  request: ProjectRequest,
  options: readonly OptionSpec[],
  onTry: (target: string) => void,
  workers?: WarmWorkers,
): Promise<Diagnosis> {
  const { cwd, environment } = request
  const { settings, findings } = await examineSettings(request)
  const [runtimes, sides] = await withSurvey(
    { folder: cwd, environment, ...placesOf(settings, request), workers },
    onTry,
    (tools) => Promise.all([surveyRuntimes(tools), surveySides(settings, tools)]),
  )
  const all = [
    ...(await examineMachine(join(cwd, '.assay'), environment)),
    ...variables(request, options),
    ...findings,
    ...(await examineRecords(cwd, settings)),
  ]
  const browsers = usualBrowsers(environment.PATH ?? '')
  return redact({ findings: all, runtimes, browsers, sides, works: wouldWork(all, sides) }) as Diagnosis
}

type SurveySettings = Pick<SurveyedProject, 'python' | 'toolchains' | 'usesProject'>

function placesOf(settings: ProjectSettings | null, { options, environment }: ProjectRequest): SurveySettings {
  const usesProject = !forbidsConfig(options, environment)
  return { usesProject, python: settings?.common.python, toolchains: settings?.toolchains }
}

/** Where things are looked for, and what its settings name. */
interface SurveyedProject {
  readonly folder: string
  readonly environment: Environment
  readonly python?: string | undefined
  readonly toolchains?: LaunchContext['toolchains']
  readonly usesProject?: boolean
  /** Workers that stay for others in this process. */
  readonly workers?: WarmWorkers | undefined
}

/** Does some work with a pool of its own, whose workers have little time to answer. */
export async function withSurvey<T>(
  { folder, environment, python, toolchains, usesProject = true, workers }: SurveyedProject,
  onTry: (target: string) => void,
  work: (tools: SurveyTools) => Promise<T>,
): Promise<T> {
  const folders = { projectFolder: folder, runtimesFolder: join(folder, '.assay', 'runtimes') }
  const context = {
    ...folders,
    environment,
    usesProject,
    notice: () => {},
    ...(python !== undefined && { python }),
    ...(toolchains && { toolchains }),
  }
  const size = Math.min(availableParallelism(), MOST_AT_ONCE)
  const limits = { ...DEFAULT_LIMITS, startMs: PROBE_LIMIT_MS }
  const pool = createPool({ size, context, limits, ...(workers && { warm: workers }) })
  try {
    return await work({ pool, context, onTry })
  } finally {
    await pool.close()
  }
}

async function surveySides(settings: ProjectSettings | null, tools: SurveyTools): Promise<Diagnosis['sides']> {
  if (settings === null) return { reference: [], targets: [] }
  const { reference, defaultReference, otherReferences, targets } = settings.targets
  const survey = (sides: readonly Target[]) => Promise.all(sides.map((target) => surveyTarget(target, tools)))
  const trusted = survey([reference ?? defaultReference, ...otherReferences])
  return { reference: await trusted, targets: await survey(targets) }
}

function variables({ environment }: ProjectRequest, options: readonly OptionSpec[]): Finding[] {
  try {
    return checkEnvironment(environment, options).map((text) => ({ name: 'environment', health: 'look', text }))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return [{ name: 'environment', health: 'broken', text: error.message }]
  }
}

/** Every side is here or will be installed, and nothing else stands in the way. */
function wouldWork(findings: readonly Finding[], { reference, targets }: Diagnosis['sides']): boolean {
  const sides = [...reference, ...targets]
  if (sides.length === 0 || findings.some(({ health }) => health === 'broken')) return false
  const canInstall = findings.some(({ name, health }) => name === 'npm' && health === 'good')
  return sides.every(({ state }) => state === 'ready' || state === 'untried' || (state === 'first-use' && canInstall))
}
