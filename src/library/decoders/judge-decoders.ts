import type { Pool } from '../../runtimes/pool.ts'
import { OnnxExports } from '../../suites/decoders/onnx-exports.ts'
import { decodersSuite } from '../../suites/decoders/suite.ts'
import { type Invocation, reproduceOf } from '../invocation.ts'
import { type Audience, type JudgedOutcome, judgeSuites, listSuites, type Planned } from '../judge-suites.ts'
import { type DecodersInvocation, withDecoders } from './decoders-invocation.ts'
import { decodingOptions, planDecoders } from './plan-decoders.ts'

export interface DecodersAudience extends Audience {
  /** Log lines in the documented words. */
  readonly log?: (line: string) => void
}

/** Judges decoders by their tokens and their logits. */
export function judgeDecoders(invocation: DecodersInvocation, audience: DecodersAudience): Promise<JudgedOutcome> {
  return judgeSuites(invocation, audience, (pool) => planned(invocation, pool, audience))
}

/** The ids of the cases; nothing is decoded. */
export function listDecoders(
  invocation: DecodersInvocation,
  notice: Audience['notice'],
): ReturnType<typeof listSuites> {
  return listSuites(invocation, notice, (pool) => planned(invocation, pool, { notice }))
}

/** The decoders that the configuration names, for a run of everything; null: it names none. */
export async function configuredDecoders(
  invocation: Invocation,
  pool: Pool,
  notice: Audience['notice'],
): Promise<Planned | null> {
  if (!invocation.loaded.config.decoders?.models) return null
  const asked = { environment: process.env, options: {}, paths: [] }
  return planned(withDecoders(invocation, asked, notice), pool, { notice })
}

async function planned(
  invocation: DecodersInvocation,
  pool: Pool,
  { notice, log }: Pick<DecodersAudience, 'notice' | 'log'>,
): Promise<Planned> {
  const { decoders, values } = invocation
  const exports = new OnnxExports()
  const suite = decodersSuite({
    ...decodingOptions(invocation, pool, exports, notice),
    models: await planDecoders(invocation, exports, notice),
    all: decoders.all,
    tokensOnly: decoders.tokensOnly && !decoders.forceLogits,
    transcripts: values.verbose,
    log: log ?? null,
    reproduce: reproduceOf(invocation),
  })
  return { suites: [suite], choices: { decoders, seed: values.seed } }
}
