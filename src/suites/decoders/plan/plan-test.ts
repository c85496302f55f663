import { cleanText } from '../../../domain/text.ts'
import type { PlanContext, Planned } from '../../contract.ts'
import { type DecodersSuiteOptions, decodersSuite } from '../suite.ts'
import type { DecodersAsked } from './decoders-asked.ts'
import { decodingOptions, exportsFor, planDecoders, tellPrompts } from './plan-decoders.ts'

/** The suite of `assay decoders test`. */
export async function planTest(asked: DecodersAsked, context: PlanContext): Promise<Planned> {
  const { decoders, values } = asked
  const options = await suiteOptions(asked, context)
  if (!context.lists) await tellPrompts(options.models, options, context.notice)
  return { suites: [decodersSuite(options)], choices: { decoders, seed: values.seed } }
}

const LONGEST_LINE = 4000

async function suiteOptions(asked: DecodersAsked, context: PlanContext): Promise<DecodersSuiteOptions> {
  const { decoders, values } = asked
  const { notice } = context
  const exports = exportsFor(asked)
  const pool = await context.pool()
  return {
    ...decodingOptions(asked, pool, exports, notice),
    models: await planDecoders(asked, exports, pool, notice),
    // Whoever reads what is saved wants every batch.
    all: decoders.all || decoders.validationInfoFormat === 'fms',
    tokensOnly: decoders.tokensOnly && !decoders.forceLogits,
    transcripts: values.verbose,
    log: decoders.log === 'fms' ? (line) => notice(cleanText(line, LONGEST_LINE)) : null,
  }
}
