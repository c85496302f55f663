import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { modelFromBytes, type OnnxModel, readModel } from '../../onnx/model.ts'
import type { ModelRef } from '../contract.ts'
import type { Toolchain, ToolStage } from './definition.ts'
import { hardwareValues } from './hardware-values.ts'
import { checkRawShapes } from './output-shapes.ts'
import { placeModel } from './place-model.ts'
import { runTool, type ToolOrder, toolName } from './run-tool.ts'
import { asPlaceholders, DashedValue, expandArgv, type TemplateValues } from './template.ts'

/** What the worker was told when it started. */
export interface ToolchainOrder {
  readonly toolchain: Toolchain
  readonly limitsMs: Readonly<Record<ToolStage | 'start', number>>
  readonly scratch: string
}

/** A model on its way through the tools. */
export interface Build {
  readonly model: OnnxModel
  readonly values: TemplateValues
}

/** Where a build happens. */
export interface BuildPlace {
  /** Exists and is empty. */
  readonly folder: string
  /** For all that the tools print. */
  readonly logs: string
}

/** Everything is checked that can be before the first tool runs. */
export async function prepareBuild(
  { toolchain }: ToolchainOrder,
  ref: ModelRef,
  target: Target,
  { folder }: BuildPlace,
): Promise<Build> {
  const model = 'path' in ref ? await readModel(ref.path) : await modelFromBytes(ref.bytes, ref.folder)
  const hardware = hardwareValues(toolchain, target)
  if (toolchain.tensors === 'raw') checkRawShapes(model)
  for (const name of ['import', 'artifact', 'ir']) await mkdir(join(folder, name))
  const values = {
    model: await placeModel(model, join(folder, 'model')),
    imported: join(folder, 'import', 'imported'),
    artifact: join(folder, 'artifact', 'artifact'),
    ir_dir: join(folder, 'ir'),
    ...hardware,
  }
  return { model, values }
}

/** Imports, where the toolchain does that, and compiles. */
export async function build(order: ToolchainOrder, { values }: Build, site: BuildPlace): Promise<void> {
  if (order.toolchain.argv.import) await make(order, 'import', values, site)
  await make(order, 'compile', values, site)
}

const PRODUCTS = { import: 'import', compile: 'artifact' } as const

async function make(
  order: ToolchainOrder,
  stage: 'import' | 'compile',
  values: TemplateValues,
  site: BuildPlace,
): Promise<void> {
  const { detail } = await useTool(order, stage, values, site.logs)
  const what = stage === 'import' ? '{imported}' : '{artifact}'
  const sizes = await fileSizes(join(site.folder, PRODUCTS[stage]))
  const tool = toolName(detail.argv)
  if (sizes.length === 0) throw new StageError(stage, `${tool} succeeded but wrote no ${what}`, { detail })
  if (sizes.every((size) => size === 0))
    throw new StageError(stage, `${tool} succeeded but wrote an empty ${what}`, { detail })
}

/** Runs the tool of a stage; `detail` tells which, for what may be wrong with its work. */
export async function useTool(
  { toolchain, limitsMs, scratch }: ToolchainOrder,
  stage: ToolStage,
  values: TemplateValues,
  logs: string,
) {
  const argv = expand(toolchain, stage, values)
  const env = { ...process.env, TMPDIR: join(scratch, 'tmp') }
  const log = join(logs, `${stage}.log`)
  const inWords = (text: string) => asPlaceholders(text, values)
  const order: ToolOrder = { stage, argv, cwd: toolchain.cwd, env, limitMs: limitsMs[stage], log, inWords }
  const { durationMs, printed } = await runTool(order)
  return { durationMs, detail: { tool: argv[0]!, argv, stderr: printed } }
}

function expand({ argv }: Toolchain, stage: ToolStage, values: TemplateValues): string[] {
  try {
    return expandArgv(argv[stage]!, values)
  } catch (error) {
    if (error instanceof DashedValue) throw new StageError('compile', error.message, { cause: error })
    throw error
  }
}

/** A product may be one file, several that begin alike, or a folder. */
async function fileSizes(folder: string): Promise<number[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  return Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size))
}
