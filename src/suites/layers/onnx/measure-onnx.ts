import { StageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import { settledInputs } from '../../tensors/fitting/fit-inputs.ts'
import type { PreparedInputs } from '../../tensors/inputs.ts'
import { runEdited } from '../../tensors/inside/edited-run.ts'
import { measureSizes } from '../../tensors/inside/value-sizes.ts'
import { type LoadedModel, loadModel } from '../../tensors/load.ts'
import { captureSide, requireRuntime, warmUp, wholeModel } from '../../tensors/sides.ts'
import { describeLayers, type MeasuredRun } from '../describe-layers.ts'
import { prepareJudging } from '../judging/prepare-judging.ts'
import { readMask } from '../measure-layers.ts'
import type { LayersSuiteContext } from '../suite.ts'
import { type InnerModel, listValues, loadSide, lookInside } from './inner-model.ts'
import { measureValues } from './measure-values.ts'
import type { OnnxLayersCase } from './onnx-cases.ts'
import { replayNodes } from './replay-nodes.ts'

/** Runs both sides on the same inputs and measures every tensor of the graph, each side on its own values. */
export async function measureOnnxLayers(c: OnnxLayersCase, lab: Lab, options: LayersSuiteContext): Promise<Judgement> {
  warmUp(options.pool, [c.referenceTarget, c.underTest])
  const trusted = await loadSide(c, 'reference', lab, options)
  const info = await requireRuntime(options, 'reference', c.referenceTarget)
  const inputs = await prepareOnnxInputs(c, trusted, lab, options)
  const reference = await lookInside(trusted, inputs, c, info, lab, options)
  const side = { c, lab, options, inputs, info, reference }
  const pair = { ...side, target: await lookIntoTarget(side) }
  const measured = await measureOnnxPair(pair)
  const judging = await prepareJudging({
    judgedBy: options.judgedBy,
    measureBaseline: (baseline) => measureBaseline(pair, baseline),
    replay: async () => replayNodes(pair),
  })
  return describeLayers(c, measured, inputs.measurements, lab, judging)
}

/** The reference computes once more, beside another trusted target. */
async function measureBaseline(pair: OnnxPair, baseline: Target): Promise<MeasuredRun> {
  await requireRuntime({ ...pair.options, areDefaults: false }, 'reference', baseline)
  const side = { ...pair, c: { ...pair.c, underTest: baseline } }
  return measureOnnxPair({ ...side, target: await lookIntoTarget(side) })
}

/** The same as for the whole model in `assay test`. */
async function prepareOnnxInputs(
  c: OnnxLayersCase,
  trusted: LoadedModel,
  lab: Lab,
  options: LayersSuiteContext,
): Promise<PreparedInputs> {
  const model = await loadModel(c.path, 'reference', lab, options.digests)
  const { pool, areDefaults } = options
  return settledInputs({ c, lab, options, model, trusted }, ({ trace, digest }) =>
    captureSide(
      { lab, pool, areDefaults, inputs: trace, inputsDigest: digest },
      'reference',
      c.referenceTarget,
      wholeModel(trusted),
    ),
  )
}

/** Both sides of a model, and what is known of the reference. */
export interface OnnxPair {
  readonly c: OnnxLayersCase
  readonly lab: Lab
  readonly options: LayersSuiteContext
  readonly inputs: PreparedInputs
  /** Of the reference. */
  readonly info: RuntimeInfo
  readonly reference: InnerModel
  readonly target: InnerModel
}

async function lookIntoTarget(side: Omit<OnnxPair, 'target'>): Promise<InnerModel> {
  const { c, lab, options, inputs, info, reference } = side
  const tested = await loadSide(c, 'target', lab, options)
  return tested.path === reference.loaded.path ? reference : lookInside(tested, inputs, c, info, lab, options)
}

async function measureOnnxPair(pair: OnnxPair): Promise<MeasuredRun> {
  const { c, lab, options, inputs, info, reference, target } = pair
  const { version } = await requireRuntime(options, 'target', c.underTest)
  const sizes = await sizesOf(pair)
  const mask = await readMask(inputs.trace)
  let measured: MeasuredRun | undefined
  await lab.step({ title: 'measure every tensor on both sides', stage: 'run', key: null, files: false }, async () => {
    const request = { c, reference, target, inputs: inputs.trace, mask, sizes }
    const { tensors, ...ran } = await measureValues(request, options.pool, lab)
    measured = {
      ...ran,
      tensors: tensors.map((tensor) => ({ ...tensor, step: 0 })),
      versions: [info.version, version],
      timing: 'run_ms',
    }
  })
  return measured!
}

async function sizesOf({ c, lab, options, inputs, info, reference }: OnnxPair) {
  const { loaded, flat, dtypes } = reference
  const values = listValues(reference).map(({ value }) => value)
  if (values.length === 0) throw new StageError('extract', 'no node of the model makes a tensor that can be observed')
  const { trace, digest } = inputs
  const request = { reference: c.referenceTarget, info, model: loaded, inputs: trace, inputsDigest: digest }
  return measureSizes(loaded.model, flat, values, dtypes, (what, bytes, names) =>
    runEdited(request, { what, bytes, names }, options.pool, lab),
  )
}
