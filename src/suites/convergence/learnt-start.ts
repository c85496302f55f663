import { compareReplays } from './judge-replays.ts'
import type { Replay } from './replay.ts'
import type { WindowUnderTest } from './window-under-test.ts'

const AGAIN = 'started as documented, the program repeats the last step of its checkpoint'
const LATER = 'windows are replayed again, one step later'
const INSISTED = 'resume_at: last_step in the configuration makes the first replay count'
const SPARED = 'resume_at: next_step in the configuration avoids the first replay'

/** If these two replays leave no doubt, lets further ones begin one step later, and says so. */
export async function learnStart(window: WindowUnderTest, first: Replay, later: Replay): Promise<string[]> {
  const outcome = await outcomeOf(window, first, later)
  window.planned.tell?.([`${AGAIN}; ${LATER}`, ...outcome].join('; '))
  return outcome
}

/** Certain if the first replay stopped short, as such a program must, or if the later one gives what was recorded. */
async function outcomeOf(window: WindowUnderTest, first: Replay, later: Replay): Promise<string[]> {
  if (!isWhole(window, later)) return []
  const isSure = !isWhole(window, first) || compareReplays(window, [later]).verdict === 'pass'
  return [isSure ? await remember(window) : INSISTED]
}

/** All that was recorded can be compared. */
export function isWhole(window: WindowUnderTest, replay: Replay): boolean {
  const { compared, expected } = compareReplays(window, [replay]).coverage
  return compared === expected
}

async function remember({ planned: { storage } }: WindowUnderTest): Promise<string> {
  const shown = storage.shown(storage.sidecarPath)
  try {
    const isWritten = await storage.learnStart('next_step')
    return isWritten
      ? `${shown} remembers this`
      : `a manifest from another tool has no place to remember this: ${SPARED}`
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `this is not remembered: ${why.replaceAll(storage.sidecarPath, shown)}; ${SPARED}`
  }
}

/** Forgets a start that was right for another state of the program. */
export async function unlearnStart({ planned, entry }: WindowUnderTest): Promise<string> {
  // If it cannot be saved, the next run finds it again.
  await planned.storage.learnStart(null).catch(() => {})
  const { startStep } = entry
  return `the program did not begin with step ${startStep + 1}, as it did before: replayed from step ${startStep}, as documented`
}
