import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { JudgedOutcome, ListedCases, RunListeners } from '../judge-suites.ts'
import type { DecodersInvocation } from './decoders-invocation.ts'

/** Decodes with the reference and with a second trusted target, and writes metric files of how far they are apart. */
export async function learnBaseline(invocation: DecodersInvocation, listeners: RunListeners): Promise<JudgedOutcome> {
  await mkdir(resolve(invocation.cwd, invocation.decoders.metricsDir), { recursive: true })
  const [{ judgeSuites }, { planBaseline }] = await judging()
  return judgeSuites(invocation, listeners, (pool) => planBaseline(invocation, pool, listeners.notice, true))
}

/** The ids of the cases; nothing is decoded. */
export async function listBaseline(
  invocation: DecodersInvocation,
  notice: RunListeners['notice'],
): Promise<ListedCases> {
  const [{ listSuites }, { planBaseline }] = await judging()
  return listSuites(invocation, notice, (pool) => planBaseline(invocation, pool, notice, false))
}

/** Most of our code: a mistake in the command line is answered without it. */
function judging() {
  return Promise.all([import('../judge-suites.ts'), import('./plan-baseline.ts')])
}
