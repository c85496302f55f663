import type { Recording } from '../../domain/convergence.ts'
import { StageError } from '../../domain/errors.ts'
import type { WindowUnderTest } from './judge-replay.ts'
import { isHealthy, programError } from './program-error.ts'
import type { Replay } from './replay.ts'

const SHOWN = 5

/** What a replay logged, where it may stand for a reference: the program was well, and all is there and finite. */
export function wholeRecording({ entry, planned }: WindowUnderTest, replay: Replay): Recording {
  const { outcome, brokeAt, recording, seed } = replay
  const where = `the window from step ${entry.startStep}${seed === null ? '' : ` with seed ${seed}`}`
  if (!isHealthy(outcome)) {
    const { message, stage, side: _side, ...detail } = programError(replay)
    throw new StageError(stage, `${where}: ${message}`, { side: 'target', detail })
  }
  if (brokeAt !== null) throw new StageError('run', `${where} is not finite at step ${brokeAt}`)
  const metrics = Object.keys(planned.test.rules)
  const missing = [...entry.results].flatMap(([step, before]) =>
    metrics.filter((name) => before[name] && !recording.get(step)?.[name]).map((name) => `${name} of step ${step}`),
  )
  if (missing.length === 0) return recording
  throw new StageError(
    'run',
    `${where} has no ${missing.slice(0, SHOWN).join(', ')}${missing.length > SHOWN ? ' …' : ''}`,
  )
}
