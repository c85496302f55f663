import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { LaunchContext, Need, Probe } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { findSchema, readTarget, runtimeKind, TARGET_SCHEMAS } from '../../runtimes/registry.ts'

/**
 * ready: it answered. first-use: a run installs what is missing. missing: a person must get something.
 * unavailable: everything is here and it does not work. untried: it needs what only a person can give.
 */
type TargetState = 'ready' | 'first-use' | 'missing' | 'unavailable' | 'untried'

export interface TargetReport {
  readonly target: string
  readonly runtime: string
  readonly device: string | null
  readonly state: TargetState
  readonly version: string | null
  readonly detail: Readonly<Record<string, string>>
  readonly needs: readonly Need[]
  /** Why it is not ready. */
  readonly reason: string | null
  readonly remedy: string | null
}

export interface SurveyTools {
  readonly pool: Pool
  readonly context: LaunchContext
  readonly onTry: (target: string) => void
}

/** Every runtime with every device that it can have, tried as a run would; nothing is installed. */
export async function surveyRuntimes(tools: SurveyTools): Promise<TargetReport[]> {
  const reports = await Promise.all(Object.keys(TARGET_SCHEMAS).map((name) => surveyRuntime(name, tools)))
  return reports.flat()
}

async function surveyRuntime(name: string, tools: SurveyTools): Promise<TargetReport[]> {
  const kind = await runtimeKind(name)
  const schema = findSchema(name)
  const described = schema.describedIn ? Object.keys(tools.context[schema.describedIn] ?? {}) : []
  if (described.length > 0)
    return Promise.all(described.map((device) => surveyTarget(readTarget(`${name}:${device}`), tools)))
  if (schema.openDevice) {
    return [{ ...blank(name, name, null), state: 'untried', reason: kind.untried?.(tools.context) ?? null }]
  }
  const first = await surveyTarget(readTarget(name), tools)
  if (first.state !== 'ready' && first.state !== 'unavailable') return [first]
  const devices = schema.devices ?? first.detail.devices?.split(', ') ?? []
  const others = devices.filter((device) => device !== first.device)
  return [first, ...(await Promise.all(others.map((device) => surveyTarget(readTarget(`${name}:${device}`), tools))))]
}

export async function surveyTarget(target: Target, tools: SurveyTools): Promise<TargetReport> {
  const kind = await runtimeKind(target.runtime)
  const needs = (await kind.needs?.(target, tools.context)) ?? []
  const bare = { ...blank(target.name, target.runtime, target.device), needs, version: needs[0]?.version ?? null }
  if (kind.untried && !kind.schema.openDevice) {
    return { ...bare, state: 'untried', reason: kind.untried(tools.context) }
  }
  const missing = needs.filter(({ path }) => path === null)
  if (missing.length > 0) return { ...bare, ...describeMissing(missing) }
  tools.onTry(target.name)
  const probe = await probeOf(target, tools)
  if (!probe.available) return { ...bare, state: 'unavailable', reason: probe.reason }
  return { ...bare, state: 'ready', version: probe.version, detail: probe.detail }
}

function blank(target: string, runtime: string, device: string | null): Omit<TargetReport, 'state'> {
  return { target, runtime, device, version: null, detail: {}, needs: [], reason: null, remedy: null }
}

function describeMissing(missing: readonly Need[]): Pick<TargetReport, 'state' | 'reason' | 'remedy'> {
  const mustBeGot = missing.find(({ onFirstUse }) => !onFirstUse)
  if (mustBeGot) return { state: 'missing', reason: `${mustBeGot.name} is not here`, remedy: mustBeGot.remedy }
  const packages = missing.map(({ name, version }) => (version === null ? name : `${name} ${version}`)).join(' and ')
  return { state: 'first-use', reason: `the first run installs ${packages}`, remedy: missing[0]!.remedy }
}

async function probeOf(target: Target, { pool }: SurveyTools): Promise<Probe> {
  try {
    return await pool.probe(target)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { available: false, reason: error.message }
  }
}
