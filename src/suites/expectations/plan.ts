import { resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import type { CommonValues } from '../../options/common-values.ts'
import type { Values } from '../../options/table.ts'
import type { PlanContext, Planned, SuiteRequest, SuiteWork, WatchedFiles } from '../contract.ts'
import { refuseMissing } from '../tensors/discover-models.ts'
import { withHubModels } from '../tensors/hub-models.ts'
import { readSides, type SidesAsked } from '../tensors/sides-asked.ts'
import type { TargetSections } from '../tensors/targets/config-target.ts'
import { listFolderFiles } from '../tensors/watch-folders.ts'
import { type ExpectedModel, findModels, type NamedModel } from './found-models.ts'
import type { EXPECT_OPTIONS } from './options.ts'
import type { ExpectationSections } from './section.ts'

type ExpectValues = Values<typeof EXPECT_OPTIONS>
export type ExpectationsConfig = ExpectationSections & TargetSections

const DEFAULT_TARGET = 'torch:cpu'

/** What was asked of the suite. */
export interface ExpectationsAsked extends SidesAsked {
  readonly cwd: string
  readonly environment: Environment
  readonly values: ExpectValues
  readonly common: CommonValues
  /** Of the command line; none: the configuration names them. */
  readonly words: readonly string[]
  readonly models: readonly NamedModel[]
  readonly areDefaults: boolean
}

function readExpectations(request: SuiteRequest<ExpectValues, ExpectationsConfig>): ExpectationsAsked {
  const { cwd, environment, values, common, config } = request
  const words = [...request.words, ...values.model]
  const models = words.length > 0 ? words.map((given) => ({ given })) : configured(config)
  if (models.length === 0) throw noModels()
  refuseTogether(values)
  const target = values.target ?? [DEFAULT_TARGET]
  const sides = readSides({ ...request, values: { ...values, target, reference: undefined } })
  return { ...sides, cwd, environment, values, common, words, models, areDefaults: values.target === undefined }
}

function configured({ expectations = {} }: ExpectationsConfig): NamedModel[] {
  const { decoder_models = [], tuple_output_models = [] } = expectations
  return [
    ...decoder_models.map((given) => ({ given, kind: 'decoder' as const })),
    ...tuple_output_models.map((given) => ({ given, kind: 'tuple' as const })),
  ]
}

function noModels(): UsageError {
  const what = 'no model to expect anything of'
  const how = 'give a Hugging Face folder or an id, or list decoder_models in the section expectations'
  return new UsageError('models', `${what}; ${how} of the configuration`)
}

function refuseTogether({ update, capture, strictCapture }: ExpectValues): void {
  if (update === undefined || !(capture || strictCapture)) return
  const other = capture ? '--capture' : '--strict-capture'
  throw new UsageError('option', `--update captures one case and ${other} all of them; leave one out`)
}

async function plan(asked: ExpectationsAsked, context: PlanContext): Promise<Planned> {
  const { cwd, values, common, targets, areDefaults } = asked
  const { expectationsDir, capture, strictCapture, update } = values
  const { expectationsSuite } = await import('./suite.ts')
  const suite = expectationsSuite({
    cwd,
    models: await locate(asked, context),
    targets: targets.targets,
    areDefaults,
    folder: resolve(cwd, expectationsDir),
    micro: values.micro,
    capture: capture || strictCapture,
    strictCapture,
    update: update ?? null,
    machine: context.machine,
    pool: await context.pool(),
    contents: common.shard !== undefined,
  })
  return { suites: [suite], choices: { expectationsDir, micro: values.micro } }
}

/** What is not on this machine is fetched; a path that is not there is refused. */
async function locate(asked: ExpectationsAsked, { notice, only }: PlanContext): Promise<ExpectedModel[]> {
  const { models, cwd, environment, values } = asked
  const given = models.map((model) => model.given)
  const weights = values.micro ? ([] as const) : (['safetensors'] as const)
  const { paths, ids } = await withHubModels({ paths: given, cwd, environment, weights }, notice)
  refuseMissing(paths, cwd)
  const named = models.map((model, i) => ({ ...model, path: paths[i]! }))
  const found = findModels(named, cwd, ids).filter(({ path }) => only?.includes(path) ?? true)
  if (!values.micro) return found
  const { microFolder } = await import('./micro-folder.ts')
  const micros: ExpectedModel[] = []
  for (const model of found) micros.push(await microFolder(model, cwd, notice))
  return micros
}

/** The models that lie here, and the snapshots. */
function watchExpectations({ models, cwd, values }: ExpectationsAsked): () => Promise<WatchedFiles> {
  const named = models.map((model) => ({ ...model, path: model.given }))
  const snapshots = resolve(cwd, values.expectationsDir)
  return async () => ({
    models: listFolderFiles(findModels(named, cwd, undefined)),
    others: [...listFolderFiles([{ path: snapshots }]).values()].flat(),
  })
}

function whyNothing({ models, common: { keyword, pattern } }: ExpectationsAsked): string {
  const where = models.map(({ given }) => given).join(' ')
  if (keyword === undefined && pattern === undefined) {
    return `no Hugging Face folder in ${where}; a snapshot is of a folder with a config.json`
  }
  const asked = [
    ...(keyword === undefined ? [] : [`-k "${keyword}"`]),
    ...(pattern === undefined ? [] : [`-t "${pattern}"`]),
  ]
  return `no case of ${where} matches ${asked.join(' and ')}; --list prints all ids`
}

export const EXPECTATIONS_WORK: SuiteWork<ExpectValues, ExpectationsConfig, ExpectationsAsked> = {
  read: readExpectations,
  plan,
  words: ({ words }) => words,
  whyNothing,
  watches: async (asked) => watchExpectations(asked),
}
