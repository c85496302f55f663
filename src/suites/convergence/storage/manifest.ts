import { FormatError } from '../../../domain/errors.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import type { Manifest, ManifestEntry } from '../config/contract.ts'
import { readStored, type StoredObject, storedRecording } from './stored-json.ts'

/** The documented form; recordings in the order of their steps. */
export async function readManifest(path: string): Promise<Manifest> {
  const logs = (await readStored(path)).object('ckpt_logs')
  const entries = logs.keys.map((key) => entryOf(key, logs, path))
  const sorted = entries.sort((a, b) => a.startStep - b.startStep)
  const twice = sorted.find(({ startStep }, i) => sorted[i - 1]?.startStep === startStep)
  if (twice) throw new FormatError('manifest', `${path}: ckpt_logs has step ${twice.startStep} twice`)
  return sorted
}

function entryOf(key: string, logs: StoredObject, path: string): ManifestEntry {
  const [startStep, entry] = [logs.wholeKey(key), logs.object(key)]
  if (entry.whole('start_step') !== startStep) {
    throw new FormatError('manifest', `${path}: ckpt_logs.${key} has start_step ${entry.whole('start_step')}`)
  }
  return { checkpoint: entry.text('checkpoint'), startStep, results: entry.recording('results') }
}

export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const entries = manifest.map(({ checkpoint, startStep, results }) => {
    return [startStep, { checkpoint, start_step: startStep, results: storedRecording(results) }]
  })
  await writeFileAtomic(path, `${JSON.stringify({ ckpt_logs: Object.fromEntries(entries) }, null, 4)}\n`)
}
