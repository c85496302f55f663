import { resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { baselineSuite } from '../../suites/decoders/baseline-suite.ts'
import type { DecoderModel } from '../../suites/decoders/decoder-model.ts'
import { importedBaselineSuite } from '../../suites/decoders/imported-baseline.ts'
import { findInfoFolders } from '../../suites/decoders/validation-info/info-folders.ts'
import { FOLLOWER } from '../../suites/decoders/validation-info/info-pairs.ts'
import type { ValidationInfo } from '../../suites/decoders/validation-info/validation-info.ts'
import { reproduceOf } from '../invocation.ts'
import type { Planned, RunListeners } from '../judge-suites.ts'
import { baselineOf } from './baseline-target.ts'
import { decoderModels, savedModels } from './decoder-models.ts'
import type { DecodersInvocation } from './decoders-invocation.ts'
import { decodingOptions, exportsFor, sidesOf, tellPrompts } from './plan-decoders.ts'

/** The suite of `assay decoders baseline`; `tells`: say which prompts are used. */
export async function planBaseline(
  asked: DecodersInvocation,
  pool: Pool,
  notice: RunListeners['notice'],
  tells: boolean,
): Promise<Planned> {
  const invocation = withFolder(asked)
  const { decoders, cwd, values } = invocation
  const exports = exportsFor(invocation)
  const shared = decodingOptions(invocation, pool, exports, notice)
  const files = { folder: resolve(cwd, decoders.metricsDir), reproduce: reproduceOf(invocation) }
  const choices = { decoders, seed: values.seed }
  const { shapes, tokensPerSequence, topK, imports } = shared
  if (imports && decoders.skipComputation && holdsPairs(imports)) {
    const models = await savedModels(invocation, notice)
    const options = { models, shapes, tokensPerSequence, topK, imports, dtype: decoders.defaultDtype, ...files }
    return { suites: [importedBaselineSuite(options)], choices }
  }
  const models = []
  for (const model of await openableModels(invocation, notice)) {
    models.push({ model, reference: (await sidesOf(model, invocation, exports, () => {})).reference })
  }
  if (tells) await tellPrompts(models, shared, notice)
  // Whoever asks for a baseline wants it, also where it is the default one.
  const options = {
    ...shared,
    areDefaults: false,
    models,
    baseline: await baselineOf(invocation, pool, notice),
    ...files,
  }
  return { suites: [baselineSuite(options)], choices }
}

/** Our own traces are found by the content of the model, which then has to be here. */
async function openableModels(invocation: DecodersInvocation, notice: RunListeners['notice']): Promise<DecoderModel[]> {
  const { decoders } = invocation
  if (!decoders.skipComputation) return decoderModels(invocation, notice)
  try {
    return await decoderModels({ ...invocation, decoders: { ...decoders, offline: true } }, notice)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const found = `${decoders.validationInfoDir} holds no pair of .cpu_ and .cuda_ folders`
    const why = 'traces of ours are found by the content of the model'
    throw new UsageError(error.code, `${found}, and ${why}: ${error.message}`, { cause: error })
  }
}

/** Documented: what was saved lies beside the metric files. */
function withFolder(invocation: DecodersInvocation): DecodersInvocation {
  const { decoders } = invocation
  const isNeeded = decoders.skipComputation || decoders.validationInfoFormat === 'fms'
  if (!isNeeded || decoders.validationInfoDir !== undefined) return invocation
  return { ...invocation, decoders: { ...decoders, validationInfoDir: decoders.metricsDir } }
}

function holdsPairs({ folder }: ValidationInfo): boolean {
  return findInfoFolders(folder).some(({ hint }) => hint?.device === FOLLOWER)
}
