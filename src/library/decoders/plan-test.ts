import type { Pool } from '../../runtimes/host/pool.ts'
import { type DecodersSuiteOptions, decodersSuite } from '../../suites/decoders/suite.ts'
import { reproduceOf } from '../invocation.ts'
import type { Planned } from '../judge-suites.ts'
import type { DecodersInvocation } from './decoders-invocation.ts'
import type { DecoderListeners } from './judge-decoders.ts'
import { decodingOptions, exportsFor, planDecoders, tellPrompts } from './plan-decoders.ts'

type Told = Pick<DecoderListeners, 'notice' | 'log'>

/** The suite of `assay decoders test`; `tells`: say which prompts are used. */
export async function planTest(
  invocation: DecodersInvocation,
  pool: Pool,
  told: Told,
  tells: boolean,
): Promise<Planned> {
  const { decoders, values } = invocation
  const options = await suiteOptions(invocation, pool, told)
  if (tells) await tellPrompts(options.models, options, told.notice)
  return { suites: [decodersSuite(options)], choices: { decoders, seed: values.seed } }
}

async function suiteOptions(
  invocation: DecodersInvocation,
  pool: Pool,
  { notice, log }: Told,
): Promise<DecodersSuiteOptions> {
  const { decoders, values } = invocation
  const exports = exportsFor(invocation)
  return {
    ...decodingOptions(invocation, pool, exports, notice),
    models: await planDecoders(invocation, exports, pool, notice),
    // Whoever reads what is saved wants every batch.
    all: decoders.all || decoders.validationInfoFormat === 'fms',
    tokensOnly: decoders.tokensOnly && !decoders.forceLogits,
    transcripts: values.verbose,
    log: log ?? null,
    reproduce: reproduceOf(invocation),
  }
}
