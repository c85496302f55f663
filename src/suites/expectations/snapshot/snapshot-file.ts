import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FormatError } from '../../../domain/errors.ts'
import { explainWriteError, writeFileAtomic } from '../../../files/disk/atomic.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { readCheckedJson } from '../../../files/formats/checked-json.ts'
import { type ModelSnapshot, SNAPSHOT_SCHEMA, snapshotFile } from './schema.ts'
import { snapshotText } from './snapshot-text.ts'

/** Whose snapshot it is. */
export interface SnapshotOwner {
  /** The path from the current folder, or the id on the hub. */
  readonly model: string
  readonly target: string
}

const LONGEST_PART = 60

/** A file for each model and target; the digest tells names apart that look alike without their slashes. */
export function snapshotPath(folder: string, { model, target }: SnapshotOwner): string {
  const digest = computeDigest({ model, target }).slice(0, 8)
  return join(folder, `${plainName(model)}--${plainName(target)}-${digest}.json`)
}

function plainName(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|-+$/g, '')
    .slice(-LONGEST_PART)
}

/** null: nothing was captured yet. */
export async function readSnapshot(path: string, owner: SnapshotOwner): Promise<ModelSnapshot | null> {
  if (!existsSync(path)) return null
  const { schema: _, ...snapshot } = await readCheckedJson(path, snapshotFile, SNAPSHOT_SCHEMA)
  if (snapshot.model === owner.model && snapshot.target === owner.target) return snapshot
  const found = `${path} is the snapshot of ${snapshot.model} on ${snapshot.target}`
  throw new FormatError('snapshot', `${found}, expected ${owner.model} on ${owner.target}; give it its own name back`)
}

/** Parts that are not given stay as they are; the file is left alone if nothing changes. */
export async function writeSnapshot(path: string, owner: SnapshotOwner, parts: Partial<ModelSnapshot>): Promise<void> {
  const before = await readSnapshot(path, owner)
  const { output, weight_keys } = { ...before, ...parts }
  const content = { ...owner, ...(output && { output }), ...(weight_keys && { weight_keys }) }
  const folder = dirname(path)
  await mkdir(folder, { recursive: true }).catch((error) => {
    throw explainWriteError(error, folder)
  })
  await writeFileAtomic(path, snapshotText({ schema: SNAPSHOT_SCHEMA, ...content }))
}
