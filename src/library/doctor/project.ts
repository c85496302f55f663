import { join, relative, resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { FormatError, UsageError } from '../../domain/errors.ts'
import { redact } from '../../domain/redact.ts'
import { formatBytes, formatDuration } from '../../domain/text.ts'
import { VERDICTS } from '../../domain/verdict.ts'
import { folderBytes } from '../../files/disk/folder-bytes.ts'
import { commonValues } from '../../options/common-values.ts'
import { resolveOptions } from '../../options/resolve.ts'
import type { Finding } from '../../reporters/finding-lines.ts'
import { latestRun, readRun, type StoredRun } from '../../runs/record/read-run.ts'
import { TEST_OPTIONS } from '../../suites/onnx/options.ts'
import { defaultGlobs, discoverModels } from '../../suites/tensors/discover-models.ts'
import { type ModelsAsked, readModels } from '../../suites/tensors/models-asked.ts'
import { TEST_COMMAND } from '../../suites/tensors/test-command.ts'
import { chosenConfig } from '../config/config-file.ts'

/** Whose settings are looked at. */
export interface ProjectRequest {
  readonly cwd: string
  readonly environment: Environment
  readonly words?: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

/** What `assay test` would be asked to do. */
export interface ProjectSettings extends ModelsAsked {
  readonly configPath: string | null
}

/** What a run here would be asked to do; null: its settings are refused. */
export async function examineSettings(
  request: ProjectRequest,
): Promise<{ settings: ProjectSettings | null; findings: Finding[] }> {
  try {
    const settings = await readSettings(request)
    return { settings, findings: [configuration(settings), models(settings)] }
  } catch (error) {
    return { settings: null, findings: [refusal('config', 'broken', error)] }
  }
}

async function readSettings({ cwd, environment, words = [], options }: ProjectRequest): Promise<ProjectSettings> {
  const { path: configPath, config } = await chosenConfig(options, environment, cwd)
  const { values, origins } = resolveOptions(TEST_OPTIONS, { commandLine: options, environment, file: config })
  const common = commonValues(values, environment)
  const plain = { command: TEST_COMMAND.name, cwd, environment, words, isConfigured: false, notice: () => {} }
  return { ...readModels({ ...plain, values, origins, common, config, configPath }), configPath }
}

function configuration({ configPath, cwd, common }: ProjectSettings): Finding {
  if (common.noConfig) return { name: 'config', health: 'note', text: 'none is loaded, as --no-config says' }
  if (configPath !== null) return { name: 'config', health: 'good', text: relative(cwd, configPath) }
  return { name: 'config', health: 'note', text: 'no file, so defaults count', remedy: 'assay init writes one' }
}

function models({ paths, cwd }: ProjectSettings): Finding {
  const where = (paths.length > 0 ? paths : defaultGlobs(cwd)).join(' ')
  try {
    const { length } = discoverModels(paths, cwd)
    if (length > 0) return { name: 'models', health: 'good', text: `${length} in ${where}` }
  } catch (error) {
    return refusal('models', 'look', error)
  }
  return {
    name: 'models',
    health: 'look',
    text: `none in ${where}`,
    remedy: 'assay init makes a sample, or name yours',
  }
}

/** What `.assay` holds, and how the last run ended. */
export async function examineRecords(cwd: string, settings: ProjectSettings | null): Promise<Finding[]> {
  const runs = resolve(cwd, settings?.common.outputDir ?? '.assay/runs')
  const cache = resolve(cwd, settings?.common.cacheDir ?? '.assay/cache')
  return [await storage({ cache, runs, runtimes: join(cwd, '.assay/runtimes') }), await lastRun(runs)]
}

async function storage(folders: Readonly<Record<string, string>>): Promise<Finding> {
  const sizes = Object.entries(folders).map(async ([name, folder]) => `${name} ${await sizeText(folder)}`)
  return { name: 'kept', health: 'note', text: (await Promise.all(sizes)).join(' · ') }
}

async function sizeText(folder: string): Promise<string> {
  try {
    return formatBytes(await folderBytes(folder))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return 'none'
    return `cannot be read (${code})`
  }
}

async function lastRun(runsFolder: string): Promise<Finding> {
  try {
    const folder = await latestRun(runsFolder)
    return folder === null ? { name: 'last run', health: 'note', text: 'none' } : runFinding(await readRun(folder))
  } catch (error) {
    return refusal('last run', 'look', error)
  }
}

function runFinding({ header, results, complete, why }: StoredRun): Finding {
  const counts = VERDICTS.map((verdict) => [verdict, results.filter((result) => result.verdict === verdict).length])
  const verdicts =
    counts.flatMap(([verdict, count]) => (count ? [`${count} ${verdict}`] : [])).join(', ') || 'no verdicts'
  const ageMs = Math.max(0, Date.now() - Date.parse(header.startedAt))
  const text = `${header.id}, ${ageText(ageMs)} ago: ${verdicts}`
  if (complete) return { name: 'last run', health: 'good', text }
  return { name: 'last run', health: 'look', text: `${text}; not complete: ${why}` }
}

const HOUR_MS = 3_600_000

function ageText(ageMs: number): string {
  if (ageMs >= 48 * HOUR_MS) return `${Math.floor(ageMs / (24 * HOUR_MS))} days`
  return ageMs < 60_000 ? `${Math.floor(ageMs / 1000)} s` : formatDuration(ageMs)
}

/** What a person can mend: a setting, a damaged record, a folder that cannot be read. */
function refusal(name: string, health: 'look' | 'broken', error: unknown): Finding {
  const isKnown = error instanceof UsageError || error instanceof FormatError
  if (!isKnown && !(error instanceof Error && 'code' in error)) throw error
  return { name, health, text: String(redact(error.message)) }
}
