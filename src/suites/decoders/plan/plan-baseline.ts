import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import type { Notice, PlanContext, Planned } from '../../contract.ts'
import { baselineSuite } from '../baseline-suite.ts'
import type { DecoderModel } from '../decoder-model.ts'
import { importedBaselineSuite } from '../imported-baseline.ts'
import { findInfoFolders } from '../validation-info/info-folders.ts'
import { FOLLOWER } from '../validation-info/info-pairs.ts'
import type { ValidationInfo } from '../validation-info/validation-info.ts'
import { chooseBaseline } from './baseline-target.ts'
import { decoderModels, savedModels } from './decoder-models.ts'
import type { DecodersAsked } from './decoders-asked.ts'
import { chooseSides, decodingOptions, exportsFor, tellPrompts } from './plan-decoders.ts'

/** The suite of `assay decoders baseline`. */
export async function planBaseline(given: DecodersAsked, context: PlanContext): Promise<Planned> {
  const asked = withFolder(given)
  const { notice } = context
  const { decoders, cwd, values } = asked
  if (!context.lists) await mkdir(resolve(cwd, decoders.metricsDir), { recursive: true })
  const exports = exportsFor(asked)
  const pool = await context.pool()
  const shared = decodingOptions(asked, pool, exports, notice)
  const files = { folder: resolve(cwd, decoders.metricsDir) }
  const choices = { decoders, seed: values.seed }
  const { shapes, tokensPerSequence, topK, imports } = shared
  if (imports && decoders.skipComputation && holdsPairs(imports)) {
    const models = await savedModels(asked, notice)
    const options = { models, shapes, tokensPerSequence, topK, imports, dtype: decoders.defaultDtype, ...files }
    return { suites: [importedBaselineSuite(options)], choices }
  }
  const models = []
  for (const model of await openableModels(asked, notice)) {
    models.push({ model, reference: (await chooseSides(model, asked, exports, () => {})).reference })
  }
  if (!context.lists) await tellPrompts(models, shared, notice)
  // A baseline that was asked for is required, even the default one.
  const options = {
    ...shared,
    areDefaults: false,
    models,
    baseline: await chooseBaseline(asked, pool, notice),
    ...files,
  }
  return { suites: [baselineSuite(options)], choices }
}

/** Assay finds its own traces by the content of the model, which must then be available. */
async function openableModels(asked: DecodersAsked, notice: Notice): Promise<DecoderModel[]> {
  const { decoders } = asked
  if (!decoders.skipComputation) return decoderModels(asked, notice)
  try {
    return await decoderModels({ ...asked, decoders: { ...decoders, offline: true } }, notice)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const found = `${decoders.validationInfoDir} holds no pair of .cpu_ and .cuda_ folders`
    const why = 'Assay finds its own traces by the content of the model'
    throw new UsageError(error.code, `${found}, and ${why}: ${error.message}`, { cause: error })
  }
}

/** Documented: what was saved lies beside the metric files. */
function withFolder(asked: DecodersAsked): DecodersAsked {
  const { decoders } = asked
  const isNeeded = decoders.skipComputation || decoders.validationInfoFormat === 'fms'
  if (!isNeeded || decoders.validationInfoDir !== undefined) return asked
  return { ...asked, decoders: { ...decoders, validationInfoDir: decoders.metricsDir } }
}

function holdsPairs({ folder }: ValidationInfo): boolean {
  return findInfoFolders(folder).some(({ hint }) => hint?.device === FOLLOWER)
}
