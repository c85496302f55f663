import type { Pool } from '../../runtimes/pool.ts'
import { OnnxExports } from '../../suites/decoders/onnx-exports.ts'
import { type DecodersSuiteOptions, decodersSuite } from '../../suites/decoders/suite.ts'
import { type Invocation, reproduceOf } from '../invocation.ts'
import { type Audience, type JudgedOutcome, judgeSuites, listSuites, type Planned } from '../judge-suites.ts'
import { type DecodersInvocation, withDecoders } from './decoders-invocation.ts'
import { decodingOptions, planDecoders, tellPrompts } from './plan-decoders.ts'

export interface DecodersAudience extends Audience {
  /** Log lines in the documented words. */
  readonly log?: (line: string) => void
}

/** Judges decoders by their tokens and their logits. */
export function judgeDecoders(invocation: DecodersInvocation, audience: DecodersAudience): Promise<JudgedOutcome> {
  return judgeSuites(invocation, audience, async (pool) => {
    const options = await suiteOptions(invocation, pool, audience)
    await tellPrompts(options.models, options, audience.notice)
    return planOf(invocation, options)
  })
}

/** The ids of the cases; nothing is decoded. */
export function listDecoders(
  invocation: DecodersInvocation,
  notice: Audience['notice'],
): ReturnType<typeof listSuites> {
  return listSuites(invocation, notice, async (pool) =>
    planOf(invocation, await suiteOptions(invocation, pool, { notice })),
  )
}

/** The decoders that the configuration names, for a run of everything; null: it names none. */
export async function configuredDecoders(
  invocation: Invocation,
  pool: Pool,
  notice: Audience['notice'],
): Promise<Planned | null> {
  if (!invocation.loaded.config.decoders?.models) return null
  const asked = { environment: invocation.environment, options: {}, paths: [] }
  const decoders = withDecoders(invocation, asked, notice)
  return planOf(decoders, await suiteOptions(decoders, pool, { notice }))
}

function planOf({ decoders, values }: DecodersInvocation, options: DecodersSuiteOptions): Planned {
  return { suites: [decodersSuite(options)], choices: { decoders, seed: values.seed } }
}

async function suiteOptions(
  invocation: DecodersInvocation,
  pool: Pool,
  { notice, log }: Pick<DecodersAudience, 'notice' | 'log'>,
): Promise<DecodersSuiteOptions> {
  const { decoders, values } = invocation
  const exports = new OnnxExports()
  return {
    ...decodingOptions(invocation, pool, exports, notice),
    models: await planDecoders(invocation, exports, notice),
    all: decoders.all,
    tokensOnly: decoders.tokensOnly && !decoders.forceLogits,
    transcripts: values.verbose,
    log: log ?? null,
    reproduce: reproduceOf(invocation),
  }
}
