import { SkipCase } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { type FileDigests, sha256File } from '../../files/disk/digest.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { findDecoder } from '../../models/hugging-face/find-decoder.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Tokenizer } from '../../models/hugging-face/tokenizer/tokenizer.ts'
import { combineShapes, nameScope, type ShapeLists } from '../../models/prompts/decoder-shapes.ts'
import type { PromptBatches } from '../../models/prompts/prompt-batches.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import type { Notice } from '../contract.ts'
import { discoverFolders, type FoundFolder } from '../tensors/discover-folders.ts'
import type { FolderNames } from '../tensors/discover-models.ts'
import { type MakingOptions, policiesFor } from '../tensors/inputs.ts'
import { refuseSame } from '../tensors/refuse-same.ts'
import { bindShapes, type ShapeChoices, shapeSuffix } from '../tensors/shapes.ts'
import { type JudgedBy, refuseOthers } from './judging/load-judging.ts'
import { LAYERS_FILE } from './layers-file.ts'
import { measureLayers } from './measure-layers.ts'
import { fmsNamesOf } from './names/rename-layers.ts'
import { measureOnnxLayers } from './onnx/measure-onnx.ts'
import { discoverOnnx, type OnnxLayersCase, type OnnxSides, onnxCases } from './onnx/onnx-cases.ts'
import type { LayerNames, Mode, Observed } from './options.ts'
import { measureDecoding } from './prompted/measure-decoding.ts'
import { isPrompted, type Prompted } from './prompted/prompted-case.ts'

export interface LayersSuiteOptions extends MakingOptions {
  readonly mode: Mode
  readonly shapes: ShapeChoices
  readonly paths: readonly string[]
  /** Paths that were named by a Hugging Face id, with that id. */
  readonly ids?: FolderNames | undefined
  readonly reference: Target
  readonly targets: readonly Target[]
  /** The same for ONNX models. */
  readonly forOnnx: OnnxSides
  /** The targets are defaults, so one that is not available is skipped. */
  readonly areDefaults: boolean
  /** null: layers are only measured. */
  readonly judgedBy: JudgedBy | null
  readonly pool: Pool
  /** Put the content of every folder into the plan, so that shards of different models do not merge. */
  readonly contents: boolean
  readonly digests: FileDigests
  /** How many prompts decoders are given at once, how long they are, and how many tokens follow. */
  readonly sizes: ShapeLists
  readonly prompts: PromptBatches
  /** The folder of another tokenizer than each model's own. */
  readonly tokenizer: string | null
  readonly notice: Notice
  readonly names?: LayerNames
  readonly observe?: Observed
  /** Where CSV files go; absent: none are written. */
  readonly csv?: string | undefined
}

/** What the cases of one run share. */
export interface LayersSuiteContext extends LayersSuiteOptions {
  readonly tokenizers: Map<string, Promise<Tokenizer>>
}

export interface LayersCase extends Case {
  readonly path: string
  readonly mode: Mode
  readonly dims: Readonly<Record<string, number>>
  /** A text: inputs are generated, since this is no decoder. */
  readonly prompted: Prompted | string
  readonly names?: LayerNames
  readonly onlyModel: boolean
  readonly referenceTarget: Target
  readonly underTest: Target
}

/** Measures every layer of Hugging Face folders, and every tensor of ONNX models, on both sides. */
export function layersSuite(options: LayersSuiteOptions): Suite<LayersCase | OnnxLayersCase> {
  const context: LayersSuiteContext = { ...options, tokenizers: new Map() }
  return {
    name: 'layers',
    async *collect() {
      const folders = discoverFolders(options.paths, options.cwd, options.ids, true)
      const models = discoverOnnx(options, folders)
      const names = [...folders, ...models].map(({ name }) => name)
      refuseOthers(options.judgedBy, options.mode, names)
      const onlyModel = names.length === 1
      for (const folder of folders) {
        if (options.names === 'fms' && fmsNamesOf(folder.path) === null) options.notice(withoutNames(folder))
        const content = options.contents ? await folderDigest(folder.path, options.digests) : undefined
        for (const found of casesOf(folder, options)) {
          yield { ...found, onlyModel, ...(content && { content }) }
        }
      }
      if (options.csv !== undefined) for (const { name } of models) options.notice(withoutCsv(name))
      for (const model of models) {
        const content = options.contents ? await sha256File(model.path) : undefined
        for (const found of onnxCases(model, options)) yield { ...found, onlyModel, ...(content && { content }) }
      }
    },
    judge: (c, lab) => measureCase(c, lab, context),
  }
}

async function measureCase(c: LayersCase | OnnxLayersCase, lab: Lab, context: LayersSuiteContext): Promise<Judgement> {
  if (c.mode === 'model-forward') {
    return 'dataSet' in c ? measureOnnxLayers(c, lab, context) : measureLayers(c, lab, context)
  }
  if (isPrompted(c)) return measureDecoding(c, lab, context)
  throw new SkipCase(`${c.model} cannot generate: ${c.prompted}`)
}

type FolderCase = Omit<LayersCase, 'onlyModel'>

function* casesOf(folder: FoundFolder, options: LayersSuiteOptions): Generator<FolderCase> {
  const decoder = asksInputs(folder, options) ? 'inputs are asked for' : findDecoder(folder.path, options.tokenizer)
  if (typeof decoder !== 'string') {
    if (decoder.isSampled && options.mode === 'generate') options.notice(notSampled(folder))
    for (const shape of combineShapes(options.sizes)) {
      yield* targetCases(folder, options, { scope: nameScope(shape), dims: {}, prompted: { decoder, shape } })
    }
    return
  }
  const bindings = bindShapes(options.shapes, folder.name)
  for (const dims of bindings) {
    const scope = `${options.mode}${bindings.length > 1 ? shapeSuffix(dims) : ''}`
    yield* targetCases(folder, options, { scope, dims, prompted: decoder })
  }
}

function withoutCsv(model: string): string {
  return `${model}: no CSV files are written of ONNX models; ${LAYERS_FILE} has the figures of all tensors`
}

function withoutNames({ name }: FoundFolder): string {
  return `${name} is of no architecture whose names in foundation-model-stack are known, so its layers keep theirs`
}

function notSampled({ name }: FoundFolder): string {
  return `generation_config.json of ${name} asks for sampling; both sides take the most likely token instead`
}

/** Sizes or values that are given for a model go before prompts. */
function asksInputs({ name }: FoundFolder, { mode, shapes, inputs }: LayersSuiteOptions): boolean {
  if (mode === 'generate') return false
  const areSized = bindShapes(shapes, name).some((dims) => Object.keys(dims).length > 0)
  return areSized || Object.keys(policiesFor(name, inputs)).length > 0
}

function* targetCases(
  { name, path }: FoundFolder,
  { reference, targets, cwd, mode, names }: LayersSuiteOptions,
  inputs: Pick<LayersCase, 'scope' | 'dims' | 'prompted'>,
): Generator<FolderCase> {
  for (const target of targets) {
    refuseSame(reference, target)
    yield {
      id: `${name}/${inputs.scope}@${target.name}`,
      suite: 'layers',
      model: name,
      reference: reference.name,
      target: target.name,
      aliases: [],
      origin: shownPath(path, cwd),
      affinity: `${name}/${inputs.scope}`,
      path,
      mode,
      referenceTarget: reference,
      underTest: target,
      ...(names && { names }),
      ...inputs,
    }
  }
}
