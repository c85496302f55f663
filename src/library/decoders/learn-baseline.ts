import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Pool } from '../../runtimes/pool.ts'
import { type BaselineSuiteOptions, baselineSuite } from '../../suites/decoders/baseline-suite.ts'
import { OnnxExports } from '../../suites/decoders/onnx-exports.ts'
import { reproduceOf } from '../invocation.ts'
import { type Audience, type JudgedOutcome, judgeSuites, listSuites, type Planned } from '../judge-suites.ts'
import { decoderModels } from './decoder-models.ts'
import type { DecodersInvocation } from './decoders-invocation.ts'
import { baselineOf, decodingOptions, sidesOf, tellPrompts } from './plan-decoders.ts'

/** Decodes with the reference and with a second trusted target, and writes metric files of how far they are apart. */
export async function learnBaseline(invocation: DecodersInvocation, audience: Audience): Promise<JudgedOutcome> {
  await mkdir(resolve(invocation.cwd, invocation.decoders.metricsDir), { recursive: true })
  return judgeSuites(invocation, audience, async (pool) => {
    const options = await suiteOptions(invocation, pool, audience.notice)
    await tellPrompts(options.models, options, audience.notice)
    return planOf(invocation, options)
  })
}

/** The ids of the cases; nothing is decoded. */
export function listBaseline(
  invocation: DecodersInvocation,
  notice: Audience['notice'],
): ReturnType<typeof listSuites> {
  return listSuites(invocation, notice, async (pool) =>
    planOf(invocation, await suiteOptions(invocation, pool, notice)),
  )
}

function planOf({ decoders, values }: DecodersInvocation, options: BaselineSuiteOptions): Planned {
  return { suites: [baselineSuite(options)], choices: { decoders, seed: values.seed } }
}

async function suiteOptions(
  invocation: DecodersInvocation,
  pool: Pool,
  notice: Audience['notice'],
): Promise<BaselineSuiteOptions> {
  const { decoders, cwd } = invocation
  const exports = new OnnxExports()
  const models = []
  for (const model of await decoderModels(invocation, notice)) {
    models.push({ model, reference: (await sidesOf(model, invocation, exports, () => {})).reference })
  }
  return {
    ...decodingOptions(invocation, pool, exports, notice),
    // Whoever asks for a baseline wants it, also where it is the default one.
    areDefaults: false,
    models,
    baseline: baselineOf(invocation),
    folder: resolve(cwd, decoders.metricsDir),
    reproduce: reproduceOf(invocation),
  }
}
