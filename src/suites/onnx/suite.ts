import { FormatError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { FileDigests, sha256File } from '../../files/disk/digest.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { whyUnreadable } from '../../files/disk/unreadable.ts'
import type { GroupPattern } from '../../onnx/layers/layer-groups.ts'
import { type LayerSite, layerSites } from '../../onnx/layers/layer-sites.ts'
import { readModel } from '../../onnx/model.ts'
import type { Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { discoverFolders } from '../tensors/discover-folders.ts'
import { discoverModels, type FolderNames, type FoundModel, type LeftOut } from '../tensors/discover-models.ts'
import type { InputRules } from '../tensors/inputs.ts'
import type { MeasuredBand } from '../tensors/judging/judgement.ts'
import type { Scope } from '../tensors/option-kinds.ts'
import { refuseSame } from '../tensors/refuse-same.ts'
import type { ToleranceRule } from '../tensors/rules.ts'
import { bindShapes, type ShapeChoices, shapeSuffix } from '../tensors/shapes.ts'
import { type FullModelCase, judgeFullModel } from './full-model.ts'
import { Islands } from './layers/islands.ts'
import { judgeLayer, type LayerCase } from './layers/layer.ts'
import { LayerSetups } from './layers/layer-setup.ts'
import { type ModelUnderTest, modelUnderTest } from './model-under-test.ts'
import type { LayerInputs } from './option-kinds.ts'

export interface OnnxSuiteOptions {
  readonly cwd: string
  readonly paths: readonly string[]
  /** Paths that were named by a Hugging Face id, with that id. */
  readonly ids?: FolderNames | undefined
  /** Judge only these of the models found, by path, such as those that changed. */
  readonly only?: readonly string[] | undefined
  /** null: recorded outputs where a model has them, `defaultReference` otherwise. */
  readonly reference: Target | null
  readonly defaultReference: Target
  /** Further references, which must agree with the first. */
  readonly otherReferences: readonly Target[]
  readonly targets: readonly Target[]
  /** The targets are defaults: one that is not available is a skip, not an error. */
  readonly areDefaults: boolean
  readonly seed: number
  readonly shapes: ShapeChoices
  readonly inputs: readonly InputRules[]
  readonly tolerances: readonly ToleranceRule[]
  readonly pool: Pool
  /** Whole models, every layer of them, or both. */
  readonly scopes: readonly Scope[]
  /** Ops that are judged together as one layer. */
  readonly layerGroups: readonly GroupPattern[]
  readonly layerInputs: LayerInputs
  /** Put the content of every model into the plan, so that shards of different models do not merge. */
  readonly contents: boolean
  /** Reports things that belong to no case, such as folders that could not be searched. */
  readonly notice?: (text: string) => void
}

/** What the cases of one run share. */
export interface OnnxSuiteContext extends OnnxSuiteOptions {
  readonly digests: FileDigests
  /** Ids of all layers of a whole model's case, selected or not. */
  readonly layersOf: (whole: string) => readonly string[]
  readonly layers: LayerSetups
  /** Layers that run side by side. */
  readonly islands: Islands
  /** Layers whose judgement also counts for other layers that compute the same. */
  readonly twins: Map<string, Promise<{ readonly id: string; readonly judgement: Judgement }>>
  /** Measured once per reference, inputs and precision, however many targets need it. */
  readonly bands: Map<string, Promise<MeasuredBand>>
}

const RECORDED = 'recorded'

export type OnnxCase = FullModelCase | LayerCase

export interface OnnxSuite extends Suite<OnnxCase> {
  /** What the target of a collected case is given to run. */
  underTest(c: OnnxCase, lab: Lab): Promise<ModelUnderTest>
}

/** ONNX models, whole and layer by layer, target against reference. */
export function onnxSuite(options: OnnxSuiteOptions): OnnxSuite {
  const layers = new Map<string, string[]>()
  const layersOf = (whole: string) => layers.get(whole) ?? []
  const islands = new Islands()
  const context: OnnxSuiteContext = {
    ...options,
    digests: new FileDigests(),
    bands: new Map(),
    twins: new Map(),
    layers: new LayerSetups(),
    islands,
    layersOf,
  }
  return {
    name: 'onnx',
    async *collect() {
      const leftOut: LeftOut[] = []
      const models = discoverModels(options.paths, options.cwd, { names: options.ids, leftOut })
      if (leftOut.length > 0) options.notice?.(leftOutText(leftOut, options.cwd))
      const isOnly = models.length === 1 && discoverFolders(options.paths, options.cwd, options.ids).length === 0
      const chosen = models.filter(({ path }) => options.only?.includes(path) ?? true)
      for (const model of chosen) {
        const content = options.contents ? await contentOf(model.path) : undefined
        for await (const found of allCasesOf(model, options)) {
          const { id, part } = found
          if (part) pushTo(layers, part.of, id)
          yield { ...found, onlyModel: isOnly, ...(content && { content }) }
        }
      }
    },
    expect: (cases) => islands.expect(cases.flatMap((c) => ('site' in c ? [c] : []))),
    judge: (c, lab) => ('site' in c ? judgeLayer(c, lab, context) : judgeFullModel(c, lab, context)),
    underTest: (c, lab) => modelUnderTest(c, lab, context),
  }
}

const MOST_LEFT_OUT = 5

function leftOutText(leftOut: readonly LeftOut[], cwd: string): string {
  const shown = leftOut.slice(0, MOST_LEFT_OUT).map(({ path, why }) => `${shownPath(path, cwd)} ${why}`)
  const more = leftOut.length - shown.length
  return `not searched for models: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** Undefined if the file cannot be read; its case says why. */
async function contentOf(path: string): Promise<string | undefined> {
  return whyUnreadable(path) === null ? sha256File(path) : undefined
}

function pushTo(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}

type Collected<C> = Omit<C, 'onlyModel'>

async function* allCasesOf(
  model: FoundModel,
  options: OnnxSuiteOptions,
): AsyncGenerator<Collected<FullModelCase> | Collected<LayerCase>> {
  const full = [...casesOf(model, options)]
  const live = options.scopes.includes('layers') ? full.filter((whole) => isLive(whole, options)) : []
  const sites = live.length > 0 ? await sitesOf(model, options.layerGroups) : []
  if (options.scopes.includes('full') || sites === null) yield* full
  if (sites !== null) yield* layerCases(model, sites, live)
}

/** Layers are compared with a live reference only: recorded outputs say nothing about what is inside. */
function isLive({ referenceTarget, underTest }: Collected<FullModelCase>, { pool }: OnnxSuiteOptions): boolean {
  const runs = (target: Target | null) => target !== null && !pool.schemaOf(target).stored
  return runs(referenceTarget) && runs(underTest)
}

function* layerCases(
  model: FoundModel,
  sites: readonly LayerSite[],
  live: readonly Collected<FullModelCase>[],
): Generator<Collected<LayerCase>> {
  for (const [place, { node, ...site }] of sites.entries()) {
    for (const whole of live) {
      const scope = `${site.scope}${whole.scope.slice('full_model'.length)}`
      const names = [scope, `layer_${node.opType}_${place}`]
      const aliases = names.map((name) => documentedId(model.name, name, whole.underTest))
      const part = { of: whole.id, op: site.op, place }
      yield { ...whole, id: `${model.name}/${scope}@${whole.target}`, scope, part, aliases, site }
    }
  }
}

/** null if the model cannot be read; the case of the whole model says why. */
async function sitesOf(model: FoundModel, groups: readonly GroupPattern[]): Promise<LayerSite[] | null> {
  try {
    return layerSites((await readModel(model.path)).graph, groups)
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}

function* casesOf(model: FoundModel, options: OnnxSuiteOptions): Generator<Collected<FullModelCase>> {
  for (const variant of variantsOf(model, options)) {
    for (const target of options.targets) {
      const reference = variant.recorded ? null : (options.reference ?? options.defaultReference)
      const references = reference ? [reference, ...options.otherReferences] : []
      for (const trusted of references) refuseSame(trusted, target)
      yield {
        id: `${model.name}/${variant.scope}@${target.name}`,
        suite: 'onnx',
        model: model.name,
        scope: variant.scope,
        reference: references.map(({ name }) => name).join(' and ') || RECORDED,
        target: target.name,
        affinity: `${model.name}/${variant.scope}`,
        aliases: [documentedId(model.name, variant.scope, target)],
        origin: shownPath(model.path, options.cwd),
        path: model.path,
        dataSet: variant.dataSet,
        dims: variant.dims,
        referenceTarget: reference,
        otherReferences: options.otherReferences,
        underTest: target,
      }
    }
  }
}

/** The id as older documents write it. */
function documentedId(model: string, scope: string, target: Target): string {
  return `${model}_${scope}-${target.options.hw ?? 'sim'}-${target.options.chip ?? 'default'}`
}

interface Variant {
  readonly scope: string
  readonly dataSet: string | null
  /** The data set's outputs are the reference. */
  readonly recorded: boolean
  readonly dims: Readonly<Record<string, number>>
}

function variantsOf(model: FoundModel, options: OnnxSuiteOptions): Variant[] {
  const recorded = options.reference === null
  if (model.dataSets.length === 1) return [{ scope: 'full_model', dataSet: model.dataSets[0]!, recorded, dims: {} }]
  if (model.dataSets.length > 1) {
    return model.dataSets.map((dataSet, i) => ({ scope: `full_model[data=${i}]`, dataSet, recorded, dims: {} }))
  }
  const bindings = bindShapes(options.shapes, model.name)
  return bindings.map((dims) => ({
    scope: `full_model${bindings.length > 1 ? shapeSuffix(dims) : ''}`,
    dataSet: null,
    recorded: false,
    dims,
  }))
}
