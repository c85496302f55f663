import type { Pool } from '../../runtimes/host/pool.ts'
import type { Invocation } from '../invocation.ts'
import type { JudgedOutcome, ListedCases, Planned, RunListeners } from '../judge-suites.ts'
import { type DecodersInvocation, withDecoders } from './decoders-invocation.ts'

export interface DecoderListeners extends RunListeners {
  /** Log lines in the documented words. */
  readonly log?: (line: string) => void
}

/** Judges decoders by their tokens and their logits. */
export async function judgeDecoders(
  invocation: DecodersInvocation,
  listeners: DecoderListeners,
): Promise<JudgedOutcome> {
  const [{ judgeSuites }, { planTest }] = await judging()
  return judgeSuites(invocation, listeners, (pool) => planTest(invocation, pool, listeners, true))
}

/** The ids of the cases; nothing is decoded. */
export async function listDecoders(
  invocation: DecodersInvocation,
  notice: RunListeners['notice'],
): Promise<ListedCases> {
  const [{ listSuites }, { planTest }] = await judging()
  return listSuites(invocation, notice, (pool) => planTest(invocation, pool, { notice }, false))
}

/** Most of our code: a mistake in the command line is answered without it. */
function judging() {
  return Promise.all([import('../judge-suites.ts'), import('./plan-test.ts')])
}

/** The decoders that the configuration names, for a run of everything; null: it names none. */
export async function configuredDecoders(
  invocation: Invocation,
  pool: Pool,
  notice: RunListeners['notice'],
): Promise<Planned | null> {
  if (!invocation.loaded.config.decoders?.models) return null
  const asked = { environment: invocation.environment, options: {}, paths: [] }
  const { planTest } = await import('./plan-test.ts')
  return planTest(withDecoders(invocation, asked, notice), pool, { notice }, false)
}
