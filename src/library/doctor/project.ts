import { join, relative, resolve } from 'node:path'
import { FormatError, UsageError } from '../../domain/errors.ts'
import { redact } from '../../domain/redact.ts'
import { formatBytes, formatDuration } from '../../domain/text.ts'
import { VERDICTS } from '../../domain/verdict.ts'
import { folderBytes } from '../../files/disk/folder-bytes.ts'
import { latestRun, readRun, type StoredRun } from '../../runs/record/read-run.ts'
import { onnxChoices } from '../../settings/onnx-choices.ts'
import { defaultGlobs, discoverModels } from '../../suites/tensors/discover-models.ts'
import { type Asked, type Invocation, invocationOf } from '../invocation.ts'
import type { Finding } from './finding.ts'

/** What a run here would be asked to do; null: its settings are refused. */
export async function examineSettings(asked: Asked): Promise<{ invocation: Invocation | null; findings: Finding[] }> {
  try {
    const invocation = await invocationOf(asked)
    onnxChoices(invocation.values, invocation.loaded.config)
    return { invocation, findings: [configuration(invocation), models(invocation)] }
  } catch (error) {
    return { invocation: null, findings: [refusal('config', 'broken', error)] }
  }
}

function configuration({ loaded, cwd, values }: Invocation): Finding {
  if (values.noConfig) return { name: 'config', health: 'note', text: 'none is loaded, as --no-config says' }
  if (loaded.path !== null) return { name: 'config', health: 'good', text: relative(cwd, loaded.path) }
  return { name: 'config', health: 'note', text: 'no file, so defaults count', remedy: 'assay init writes one' }
}

function models({ paths, cwd }: Invocation): Finding {
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
export async function examineRecords(cwd: string, invocation: Invocation | null): Promise<Finding[]> {
  const runs = resolve(cwd, invocation?.values.outputDir ?? '.assay/runs')
  const cache = resolve(cwd, invocation?.values.cacheDir ?? '.assay/cache')
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
