import { resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { OwnedFolder } from '../../files/disk/owned-folder.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import type { GroupPattern } from '../../onnx/layers/layer-groups.ts'
import type { Values } from '../../options/table.ts'
import type { PlanContext, Planned, SuiteRequest, SuiteWork } from '../contract.ts'
import { locateModels, type ModelConfig, type ModelsAsked, readModels, whyNoModels } from '../tensors/models-asked.ts'
import type { LayerInputs } from './option-kinds.ts'
import type { TEST_OPTIONS } from './options.ts'

type OnnxValues = Values<typeof TEST_OPTIONS>

/** What `assay test` was asked of ONNX models. */
export interface OnnxAsked extends ModelsAsked {
  readonly layerGroups: readonly GroupPattern[]
  readonly layerInputs: LayerInputs
  readonly dump: Pick<OnnxValues, 'debugIr' | 'force'>
}

function read(request: SuiteRequest<OnnxValues, ModelConfig>): OnnxAsked {
  const { layerGroup, layerInputs, debugIr, force } = request.values
  const asked = readModels(request)
  const { reference, otherReferences, targets } = asked.targets
  checkDump(debugIr, force)
  refuseVariants([reference, ...otherReferences, ...targets])
  return { ...asked, layerGroups: layerGroup, layerInputs, dump: { debugIr, force } }
}

/** The next flag is easily taken for the folder. */
function checkDump(folder: string | undefined, force: boolean): void {
  if (force && folder === undefined)
    throw new UsageError('option', '--force is only for --debug-ir, which is not given')
  if (folder === undefined || !/^-|^$/.test(folder)) return
  throw new UsageError(
    'option',
    `--debug-ir takes the folder to write into, as in --debug-ir ir_dump; found "${folder}"`,
  )
}

/** Judging the file in full precision in its place would say something about another model. */
function refuseVariants(targets: readonly (Target | null)[]): void {
  const asking = targets.find((target) => target?.options.variant !== undefined)
  if (!asking) return
  const text = `target "${asking.name}" has variant=${asking.options.variant}, which chooses among the ONNX files of a decoder's folder`
  throw new UsageError('target', `${text}; give the file itself with model= instead`)
}

async function plan(asked: OnnxAsked, context: PlanContext): Promise<Planned> {
  const { cwd, targets, choices, layerGroups, layerInputs, common } = asked
  const located = await locateModels(asked, context)
  const { onnxSuite } = await import('./suite.ts')
  const { forFolders: _, ...sides } = targets
  const suite = onnxSuite({
    cwd,
    ...located,
    only: context.only,
    ...sides,
    ...choices,
    layerGroups,
    layerInputs,
    pool: await context.pool(),
    contents: common.shard !== undefined,
    notice: context.notice,
  })
  const dump = context.lists ? null : await beginDump(asked, context)
  const all = { ...choices, layerGroups, layerInputs }
  return dump
    ? { suites: [dump.after(suite)], choices: all, notes: () => dump.notes }
    : { suites: [suite], choices: all }
}

const DUMP_OWNER = { option: '--debug-ir', marker: '.assay-debug-ir' }

/** null: nobody asked for what targets make of models. */
async function beginDump({ cwd, dump: { debugIr, force } }: OnnxAsked, context: PlanContext) {
  if (debugIr === undefined) return null
  const { IrDump } = await import('./ir/ir-dump.ts')
  const path = resolve(cwd, debugIr)
  const folder = await OwnedFolder.claim(path, DUMP_OWNER, force || context.isAgain, shownPath(path, cwd))
  return IrDump.begin(folder, await context.pool())
}

export const ONNX_WORK: SuiteWork<OnnxValues, ModelConfig, OnnxAsked> = {
  read,
  plan,
  settled: ({ sides }) => sides,
  whyNothing: whyNoModels,
  watches: async (asked) => (await import('../tensors/watch-models.ts')).watchModels(asked),
}
