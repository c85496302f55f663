import type { Target } from '../../domain/target.ts'
import type { Opening } from '../../runs/contract.ts'
import type { OpeningDurations } from '../../runtimes/host/stage-durations.ts'

/** What a step that runs a model began with. */
export function listOpenings({ name }: Target, { compileMs, warmUpMs }: OpeningDurations): Opening[] {
  const all = [
    { title: `compile on ${name}`, durationMs: compileMs },
    { title: `warm up on ${name}`, durationMs: warmUpMs },
  ]
  return all.flatMap(({ title, durationMs }) => (durationMs === null ? [] : { title, stage: 'compile', durationMs }))
}
