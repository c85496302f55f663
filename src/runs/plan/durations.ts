import { UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import type { Result } from '../../domain/result.ts'
import { writeFileAtomic } from '../../files/disk/atomic.ts'
import { readText } from '../../files/disk/regular-file.ts'

/** Measured cost in milliseconds by case id. */
export type Durations = ReadonlyMap<string, number>

export async function readDurations(path: string): Promise<Durations> {
  const parsed = await parseFile(path)
  if (!isObject(parsed)) throw refused(path, 'is no JSON object')
  const durations = new Map<string, number>()
  for (const [id, value] of Object.entries(parsed)) {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw refused(path, `gives ${JSON.stringify(value)} for "${id}"`)
    durations.set(id, value)
  }
  return durations
}

async function parseFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path))
  } catch (error) {
    const problem = error instanceof SyntaxError ? `is no JSON (${error.message})` : `cannot be read (${String(error)})`
    throw refused(path, problem, error)
  }
}

function refused(path: string, problem: string, cause?: unknown): UsageError {
  const message = `durations file ${path} ${problem}; expected {"case id": milliseconds}, as --save-durations writes it`
  return new UsageError('durations', message, { cause })
}

/** What each case cost; work that it found done is counted as measured before, not as free. */
export function collectDurations(results: readonly Result[], earlier: Durations = new Map()): Durations {
  const measured = results.map(({ id, steps }): [string, number] => {
    const ownMs = steps.reduce((sum, step) => sum + (step.cached ? 0 : step.durationMs), 0)
    const foundDone = steps.some((step) => step.cached)
    return [id, foundDone ? Math.max(ownMs, earlier.get(id) ?? 0) : ownMs]
  })
  return new Map([...earlier, ...measured])
}

export async function writeDurations(path: string, durations: Durations): Promise<void> {
  const rounded = [...durations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, ms]) => [id, Math.round(ms * 10) / 10])
  await writeFileAtomic(path, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`)
}
