import type { Recording } from '../../../domain/convergence.ts'
import { UsageError } from '../../../domain/errors.ts'
import { locateCheckpoint } from '../config/checkpoint-path.ts'
import type { CheckpointFacts, Manifest, ResumeAt, Sidecar } from '../config/contract.ts'
import { findStart, type PlannedTest } from '../planned-test.ts'
import { keptDates } from '../provenance.ts'
import { replayReach } from '../replay-window.ts'

/** Where an interrupted gathering goes on. */
export interface GatherPoint extends Pick<Sidecar, 'earlier' | 'renewals' | 'resumeAt'> {
  /** Recordings that are already complete. */
  readonly entries: Manifest
  readonly facts: Readonly<Record<string, CheckpointFacts>>
  readonly reach: { readonly checkpointInput: string; readonly startStep: number }
  /** The last step that the checkpoint has; null: none. */
  readonly lastStep: number | null
  /** The checkpoint to continue from, whose window is recorded again. */
  readonly reopens: { readonly checkpoint: string; readonly startStep: number; readonly results: Recording }
}

/** The first incomplete window, or the last; null starts from the beginning. Refuses to overwrite a complete reference or one of another configuration. */
export async function gatherPoint(
  planned: PlannedTest,
  startOver: boolean,
  resumeAt?: ResumeAt,
): Promise<GatherPoint | null> {
  const { storage, test } = planned
  if (startOver || !storage.exists) return null
  const [manifest, sidecar] = [await storage.manifest(), await storage.sidecar()]
  refuseComplete(planned, sidecar)
  if (manifest.length === 0 || !sidecar) return null
  const first = manifest.findIndex(({ startStep }) => !sidecar.checkpoints[startStep]?.complete)
  const place = first < 0 ? manifest.length - 1 : first
  const entry = manifest[place]!
  const checkpointInput = await locateCheckpoint(storage.manifestPath, entry.checkpoint)
  const entries = manifest.slice(0, place)
  const { startStep } = replayReach(test, entry, resumeAt ?? (await findStart(planned)))
  return {
    entries,
    ...keptDates(
      sidecar,
      entries.map(({ startStep }) => startStep),
    ),
    facts: sidecar.checkpoints,
    reach: { checkpointInput, startStep },
    lastStep: entry.results.has(entry.startStep) ? null : entry.startStep,
    reopens: { checkpoint: checkpointInput, startStep: entry.startStep, results: entry.results },
    resumeAt: sidecar.resumeAt,
  }
}

/** Everything is recorded except further seeds. */
export async function lacksOnlySeeds({ storage, test }: PlannedTest, seeds: readonly number[]): Promise<boolean> {
  if (seeds.length === 0 || !storage.exists) return false
  const sidecar = await storage.sidecar()
  return sidecar?.complete === true && sidecar.configDigest === test.digest
}

function refuseComplete({ storage, test }: PlannedTest, sidecar: Sidecar | null): void {
  const what = `${storage.shownManifest} already exists`
  if (!sidecar) throw new UsageError('gather', `${what}, gathered by another tool; --start-over overwrites it`)
  if (sidecar.complete)
    throw new UsageError('gather', `${what} and is complete; --start-over gathers it again, --seeds adds seeds to it`)
  if (sidecar.configDigest === test.digest) return
  throw new UsageError(
    'gather',
    `${what}, is incomplete and belongs to another configuration of ${test.name}; --start-over gathers it again`,
  )
}
