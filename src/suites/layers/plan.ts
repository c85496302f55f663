import { UsageError } from '../../domain/errors.ts'
import type { Values } from '../../options/table.ts'
import type { PlanContext, Planned, SuiteRequest, SuiteWork } from '../contract.ts'
import { locateModels, type ModelConfig, type ModelsAsked, readModels } from '../tensors/models-asked.ts'
import { choicesOf, type JudgingAsked, readJudging } from './judging/judging-asked.ts'
import { type LAYERS_OPTIONS, MODES, type Mode } from './options.ts'

type LayersValues = Values<typeof LAYERS_OPTIONS>

/** Nothing is compared with a tolerance here. */
const NO_TOLERANCE = { scope: ['full' as const], rtol: undefined, atol: undefined, allowedMismatch: undefined }

/** What was asked of the suite. */
export interface LayersAsked extends ModelsAsked {
  readonly mode: Mode
  readonly judging: JudgingAsked
}

function readLayers(request: SuiteRequest<LayersValues, ModelConfig>): LayersAsked {
  const { values, words } = request
  if (values.mode === undefined) throw new UsageError('mode', `give --mode: ${MODES.join(' or ')}`)
  if (words.length === 0) throw new UsageError('layers', 'give the folder of a Hugging Face model, or several')
  const asked = readModels({ ...request, values: { ...values, ...NO_TOLERANCE } })
  const [another] = asked.targets.otherReferences
  if (another) throw new UsageError('layers', `give one --reference; layers are not compared with ${another.name} too`)
  return { ...asked, mode: values.mode, judging: readJudging(values, asked.config) }
}

async function plan(asked: LayersAsked, context: PlanContext): Promise<Planned> {
  const { cwd, mode, judging, targets, choices, common } = asked
  const located = await locateModels(asked, context)
  const { layersSuite } = await import('./suite.ts')
  const { loadJudging } = await import('./judging/load-judging.ts')
  const suite = layersSuite({
    ...choices,
    ...located,
    ...targets.forFolders,
    cwd,
    mode,
    judgedBy: await loadJudging(judging, cwd),
    areDefaults: targets.areDefaults,
    pool: await context.pool(),
    contents: common.shard !== undefined,
  })
  const { seed, shapes, inputs } = choices
  return { suites: [suite], choices: { mode, ...choicesOf(judging), seed, shapes, inputs } }
}

export const LAYERS_WORK: SuiteWork<LayersValues, ModelConfig, LayersAsked> = {
  read: readLayers,
  plan,
  whyNothing: ({ paths }) => `no Hugging Face folder in ${paths.join(' ')}`,
}
