import { join, resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { fetchModel } from '../../models/hugging-face/hub/fetch-model.ts'
import { PromptBatches } from '../../models/prompts/prompt-batches.ts'
import type { Origin } from '../../options/kinds.ts'
import { environmentName, listSpecs, nameFlag, type Values } from '../../options/table.ts'
import type { PlanContext, Planned, SuiteRequest, SuiteWork } from '../contract.ts'
import { locateModels, type ModelConfig, type ModelsAsked, readModels } from '../tensors/models-asked.ts'
import { choicesOf, type JudgingAsked, readJudging } from './judging/judging-asked.ts'
import { LAYER_OPTIONS, type LAYERS_OPTIONS, MODES, type Mode } from './options.ts'
import type { LayersSuiteOptions } from './suite.ts'

type LayersValues = Values<typeof LAYERS_OPTIONS>
type LayersRequest = SuiteRequest<LayersValues, ModelConfig>

/** Nothing is compared with a tolerance here. */
const NO_TOLERANCE = { scope: ['full' as const], rtol: undefined, atol: undefined, allowedMismatch: undefined }

/** What was asked of the suite. */
export interface LayersAsked extends ModelsAsked {
  readonly mode: Mode
  readonly judging: JudgingAsked
  readonly values: LayersValues
}

function readLayers(request: LayersRequest): LayersAsked {
  const { values } = request
  const { mode, dim, input } = values
  if (mode === undefined) throw new UsageError('mode', `give --mode: ${MODES.join(' or ')}`)
  if (mode === 'generate' && dim.length + input.length > 0) {
    throw new UsageError('layers', '--mode generate begins with prompts; --dim and --input are for model-forward')
  }
  const words = wordsOf(request)
  if (words.length === 0)
    throw new UsageError('layers', 'give an ONNX model or the folder of a Hugging Face model, or several')
  tellVariables(request)
  const asked = readModels({ ...request, words, values: { ...values, ...NO_TOLERANCE } })
  const [another] = asked.targets.otherReferences
  if (another) throw new UsageError('layers', `give one --reference; layers are not compared with ${another.name} too`)
  return { ...asked, mode, values, judging: readJudging(values, asked.config) }
}

/** A variable names models only where the command line does not. */
function wordsOf({ words, values: { modelPath = [] }, origins }: LayersRequest): readonly string[] {
  return words.length > 0 && origins.modelPath !== 'command line' ? words : [...words, ...modelPath]
}

/** The names of these variables are so common that each is told what it does here. */
function tellVariables({ environment, values, origins, words, notice }: LayersRequest): void {
  for (const spec of listSpecs(LAYER_OPTIONS)) {
    const { key, variable, kind } = spec
    if (origins[key] !== ('environment' satisfies Origin) || environment[environmentName(key)]) continue
    if (variable === undefined || (key === 'modelPath' && words.length > 0)) continue
    const text = kind.write(values[key as keyof LayersValues] as never)
    notice(`${nameFlag(spec)} ${text} is from ${variable} in the environment`)
  }
}

async function plan(asked: LayersAsked, context: PlanContext): Promise<Planned> {
  const { mode, values, choices, judging } = asked
  const { layersSuite } = await import('./suite.ts')
  const suite = layersSuite(await suiteOptions(asked, context))
  const { seed, shapes, inputs } = choices
  const { batchSize, promptLength, maxNewTokens, prompts, tokenizer } = values
  const prompted = { batchSize, promptLength, maxNewTokens, prompts, tokenizer }
  return { suites: [suite], choices: { mode, ...choicesOf(judging), seed, shapes, inputs, prompted } }
}

async function suiteOptions(asked: LayersAsked, context: PlanContext): Promise<LayersSuiteOptions> {
  const { cwd, mode, judging, targets, choices, common, values } = asked
  const { loadJudging } = await import('./judging/load-judging.ts')
  const digests = new FileDigests(join(resolve(cwd, common.cacheDir), 'digests'))
  return {
    ...choices,
    ...(await locateModels(asked, context)),
    ...targets.forFolders,
    forOnnx: { reference: targets.reference ?? targets.defaultReference, targets: targets.targets },
    cwd,
    mode,
    judgedBy: await loadJudging(judging, cwd),
    areDefaults: targets.areDefaults,
    pool: await context.pool(),
    notice: context.notice,
    contents: common.shard !== undefined,
    digests,
    names: values.names,
    observe: values.observe,
    csv: values.csv && resolve(cwd, values.csv),
    sizes: {
      batchSizes: values.batchSize,
      promptLengths: values.promptLength,
      newTokens: mode === 'generate' ? values.maxNewTokens : [0],
    },
    tokenizer: await tokenizerFolder(asked, context),
    prompts: new PromptBatches({
      path: values.prompts === undefined ? null : resolve(cwd, values.prompts),
      seed: choices.seed,
      cacheFolder: resolve(cwd, common.cacheDir),
      digests,
    }),
  }
}

/** null: each model's own. */
async function tokenizerFolder(asked: LayersAsked, { notice }: PlanContext): Promise<string | null> {
  const { cwd, environment, values } = asked
  if (values.tokenizer === undefined) return null
  const place = { cwd, environment, offline: false }
  return (await fetchModel(values.tokenizer, { weights: [] }, place, notice)).path
}

export const LAYERS_WORK: SuiteWork<LayersValues, ModelConfig, LayersAsked> = {
  read: readLayers,
  plan,
  words: ({ paths }) => paths,
  whyNothing: ({ paths }) => `no ONNX model and no Hugging Face folder in ${paths.join(' ')}`,
}
