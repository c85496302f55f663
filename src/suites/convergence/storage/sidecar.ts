import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import type { CheckpointFacts, DatedWindows, GitState, LearntStart, Sidecar } from '../config/contract.ts'
import { readStored, type StoredObject, storedRecording } from './stored-json.ts'

const SCHEMA = 'assay/convergence@1'

export async function readSidecar(path: string): Promise<Sidecar> {
  const stored = await readStored(path)
  if (stored.text('schema') !== SCHEMA) {
    throw new FormatError('sidecar', `${path} has the schema "${stored.text('schema')}", expected "${SCHEMA}"`)
  }
  const [environment, checkpoints] = [stored.object('environment'), stored.object('checkpoints')]
  return {
    test: stored.text('test'),
    complete: stored.flag('complete'),
    configDigest: stored.text('configDigest'),
    gatheredAt: stored.text('gatheredAt'),
    environment: Object.fromEntries(environment.keys.map((key) => [key, environment.text(key)])),
    git: gitOf(stored),
    argv: stored.texts('argv'),
    checkpoints: Object.fromEntries(
      checkpoints.keys.map((key) => [checkpoints.wholeKey(key), factsOf(checkpoints.object(key))]),
    ),
    // Older sidecars have none of these.
    resumeAt: stored.has('resumeAt') ? learntStart(stored, path) : null,
    earlier: stored.has('earlier') ? stored.objects('earlier').map(datedWindows) : [],
    renewals: stored.objects('renewals').map(datedWindows),
  }
}

function learntStart(stored: StoredObject, path: string): LearntStart {
  const text = stored.text('resumeAt')
  if (text === 'next_step') return text
  throw new FormatError('sidecar', `${path}: resumeAt is ${JSON.stringify(cleanText(text, 40))}, expected "next_step"`)
}

function gitOf(stored: StoredObject): GitState | null {
  if (!stored.has('git')) return null
  const git = stored.object('git')
  return { commit: git.text('commit'), isDirty: git.flag('isDirty') }
}

function datedWindows(stored: StoredObject): DatedWindows {
  return { at: stored.text('at'), startSteps: stored.wholes('startSteps'), git: gitOf(stored) }
}

function factsOf(stored: StoredObject): CheckpointFacts {
  return {
    complete: stored.flag('complete'),
    bytes: stored.whole('bytes'),
    sha256: stored.text('sha256'),
    warnings: stored.texts('warnings'),
    samples: stored.objects('samples').map((one) => ({ seed: one.whole('seed'), results: one.recording('results') })),
  }
}

export async function writeSidecar(path: string, { checkpoints, ...rest }: Sidecar): Promise<void> {
  const facts = Object.entries(checkpoints).map(([step, { samples, ...about }]) => {
    return [
      step,
      { ...about, samples: samples.map(({ seed, results }) => ({ seed, results: storedRecording(results) })) },
    ]
  })
  const stored = { schema: SCHEMA, ...rest, checkpoints: Object.fromEntries(facts) }
  await writeFileAtomic(path, `${JSON.stringify(stored, null, 2)}\n`)
}
