import type { WarmUp } from '../protocol/messages.ts'

/** What came before the first run of a session. */
export interface OpeningDurations {
  /** null: a session of an equal model was still open and had nothing to compile for these inputs. */
  readonly compileMs: number | null
  /** Of a run that was made because the first one compiles, without compiling; null: there was none. */
  readonly warmUpMs: number | null
}

/** `openMs` is null where a session was still open. */
export function addWarmUp(openMs: number | null, warmUp: WarmUp | null): OpeningDurations {
  if (warmUp === null) return { compileMs: openMs, warmUpMs: null }
  const warmUpMs = warmUp.durationMs - warmUp.compileMs
  if (openMs === null && warmUp.compileMs === 0) return { compileMs: null, warmUpMs }
  return { compileMs: (openMs ?? 0) + warmUp.compileMs, warmUpMs }
}
