import { UsageError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/json.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import type { MetricLimits } from '../gates/limits.ts'

export interface ModelConfiguration {
  readonly limits: ReadonlyMap<string, MetricLimits>
  /** Lines that could not be read, in words. */
  readonly skipped: readonly string[]
}

/** JSON lines with `model_id`, `ce`, `mean_diff` and `frequency`; those that are no such object are told and left out. */
export async function readModelConfiguration(path: string, mostFrequency: number): Promise<ModelConfiguration> {
  const limits = new Map<string, MetricLimits>()
  const skipped: string[] = []
  const lines = (await textOf(path)).split('\n')
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue
    const row = rowOf(line)
    if (typeof row === 'string') skipped.push(`${path}, line ${i + 1}: ${row}; left out`)
    else if (row.frequency <= mostFrequency) limits.set(row.model, { ce: row.ce, diffMean: row.diffMean })
  }
  if (limits.size === 0) throw nothingIn(path, mostFrequency, skipped)
  return { limits, skipped }
}

function nothingIn(path: string, mostFrequency: number, skipped: readonly string[]): UsageError {
  const why = skipped.length > 0 ? ` (${skipped[0]})` : ''
  return new UsageError('models', `${path} names no model of frequency ${mostFrequency} or less${why}`)
}

async function textOf(path: string): Promise<string> {
  try {
    return await readText(path)
  } catch (error) {
    throw new UsageError('models', `--model-configuration ${path} cannot be read: ${(error as Error).message}`)
  }
}

interface Row extends MetricLimits {
  readonly model: string
  readonly frequency: number
}

/** Text: why it is none. */
function rowOf(line: string): Row | string {
  const row = objectOf(line)
  if (!row) return 'not a JSON object'
  const { model_id: model, ce, mean_diff: diffMean, frequency = 0 } = row
  if (typeof model !== 'string' || model === '') return 'no model_id'
  if (!isLimit(ce) || !isLimit(diffMean)) return 'ce and mean_diff must be numbers over 0'
  return typeof frequency === 'number' ? { model, ce, diffMean, frequency } : 'frequency must be a number'
}

function objectOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isLimit(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}
