import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { explainWriteError } from '../../files/disk/atomic.ts'
import type { PlannedFile, ProjectPlan } from './plan-project.ts'

/** Nothing is replaced unless that was asked for. */
export function refuseExisting({ existing }: ProjectPlan, shown: (path: string) => string): void {
  if (existing.length === 0) return
  const verb = existing.length > 1 ? 'exist' : 'exists'
  const names = existing.map(shown).join(', ')
  throw new UsageError('exists', `${names} ${verb} already, so nothing was written; --force overwrites`)
}

export async function writeProject({ files }: ProjectPlan, force: boolean): Promise<void> {
  for (const file of files) await write(file, force)
}

async function write({ path, content, appends }: PlannedFile, force: boolean): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    if (appends) await appendFile(path, content)
    else await writeFile(path, content, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    throw explainWriteError(error, path)
  }
}
