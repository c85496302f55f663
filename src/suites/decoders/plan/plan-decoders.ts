import { join, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import { FileDigests } from '../../../files/disk/digest.ts'
import { combineShapes } from '../../../models/prompts/decoder-shapes.ts'
import { PromptBatches } from '../../../models/prompts/prompt-batches.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import type { Notice } from '../../contract.ts'
import { refuseSame } from '../../tensors/refuse-same.ts'
import type { DecoderModel } from '../decoder-model.ts'
import type { MetricName } from '../gates/contract.ts'
import type { GateChoice, GateWay } from '../gates/gate-choice.ts'
import { chooseLimits, type MetricLimits } from '../gates/limits.ts'
import { OnnxExports } from '../onnx-exports.ts'
import { readModelConfiguration } from '../options/model-configuration.ts'
import { countedBatches } from '../shapes.ts'
import type { DecodingOptions, ModelPlan } from '../suite.ts'
import { chooseBaseline } from './baseline-target.ts'
import { decoderModels } from './decoder-models.ts'
import type { DecodersAsked } from './decoders-asked.ts'
import { learntNoise, type ModelNoise } from './learnt-noise.ts'
import { chooseTracePlaces } from './trace-places.ts'

/** Weights of many gigabytes are not read anew in every run to know that they are the same. */
export function exportsFor({ cwd, values }: DecodersAsked): OnnxExports {
  return new OnnxExports(new FileDigests(join(resolve(cwd, values.cacheDir), 'digests')))
}

/** What all cases of an asked share. */
export function decodingOptions(
  asked: DecodersAsked,
  pool: Pool,
  exports: OnnxExports,
  notice: Notice,
): DecodingOptions {
  const { cwd, values, decoders, targets } = asked
  const { batchSize, promptLength, maxNewTokens } = decoders
  return {
    cwd,
    shapes: { batchSizes: batchSize, promptLengths: promptLength, newTokens: maxNewTokens },
    tokensPerSequence: decoders.tokensPerSequence,
    topK: decoders.topK,
    keep: decoders.validationInfoFormat === 'fms' ? 'full' : decoders.logits,
    prompts: new PromptBatches({
      path: decoders.prompts === undefined ? null : resolve(cwd, decoders.prompts),
      seed: values.seed,
      cacheFolder: resolve(cwd, values.cacheDir),
      digests: exports.digests,
    }),
    pool,
    exports,
    ...chooseTracePlaces(asked, notice),
    computes: !decoders.skipComputation,
    areDefaults: targets.areDefaults,
  }
}

/** Reads the prompts before anything is decoded, and reports how they were shaped. */
export async function tellPrompts(
  models: readonly { readonly model: DecoderModel }[],
  { prompts, shapes, tokensPerSequence }: DecodingOptions,
  notice: Notice,
): Promise<void> {
  for (const { model } of models) {
    for (const shape of combineShapes(shapes)) {
      const text = await prompts.shaping(model, shape, countedBatches(shape, tokensPerSequence))
      if (text !== null) notice(text)
    }
  }
}

/** Plans every model: its sides and how it is judged. Reports automatic choices. */
export async function planDecoders(
  asked: DecodersAsked,
  exports: OnnxExports,
  pool: Pool,
  notice: Notice,
): Promise<ModelPlan[]> {
  const configuration = await configuredLimits(asked, notice)
  const named = configuration.size > 0 ? { ...asked, models: [...configuration.keys()] } : asked
  const noise = await learntNoise(asked, exports, notice)
  const baseline = gateName(asked) === 'three-way' ? await chooseBaseline(asked, pool, notice) : null
  const plans: ModelPlan[] = []
  let isUsed = false
  for (const model of await decoderModels(named, notice)) {
    const sides = await chooseSides(model, asked, exports, notice)
    for (const target of sides.targets) refuseSame(sides.reference, target)
    const own = (await noise?.of(model)) ?? null
    isUsed ||= own !== null
    plans.push({ model, ...sides, gate: gateOf(model, asked, { own, baseline }, configuration) })
  }
  if (noise && !isUsed) throw noise.refusal(plans.map(({ model }) => model))
  for (const { model, gate } of plans) if (gate.limits.areDefaults) notice(defaultsText(model, gate))
  return plans
}

async function configuredLimits(
  { decoders, cwd }: DecodersAsked,
  notice: Notice,
): Promise<ReadonlyMap<string, MetricLimits>> {
  if (decoders.modelConfiguration === undefined) return new Map()
  const { limits, skipped } = await readModelConfiguration(
    resolve(cwd, decoders.modelConfiguration),
    decoders.modelFrequency,
  )
  for (const line of skipped) notice(line)
  return limits
}

function defaultsText(model: DecoderModel, { limits: { ce, diffMean } }: GateChoice): string {
  return `the noise of ${model.name} is not known: the default thresholds ce ${ce} and diff_mean ${diffMean} are used; learn its own with assay decoders baseline and assay thresholds`
}

/** Without an ONNX export PyTorch is compared with PyTorch. */
export async function chooseSides(
  model: DecoderModel,
  { targets: { reference, defaultReference, targets, areDefaults, forFolders } }: DecodersAsked,
  exports: OnnxExports,
  notice: Notice,
): Promise<{ readonly reference: Target; readonly targets: readonly Target[] }> {
  const hasExport = (await exports.of(model.folder)) !== null
  const sides = hasExport ? { reference: reference ?? defaultReference, targets } : forFolders
  if (!hasExport && (reference === null || areDefaults)) {
    const against = sides.targets.map(({ name }) => name).join(', ')
    notice(`${model.name} has no ONNX export: ${against} is compared with ${sides.reference.name}`)
  }
  return sides
}

function gateOf(
  model: DecoderModel,
  asked: DecodersAsked,
  { own, baseline }: KnownNoise,
  configuration: ReadonlyMap<string, MetricLimits>,
): GateChoice {
  const { decoders } = asked
  const limits = chooseLimits(model.given, {
    file: own && { path: own.path, limits: own.limits },
    commandLine: decoders.metricsThreshold,
    configuration,
    variable: decoders.variableThreshold,
    micro: model.micro,
  })
  const skipped: MetricName[] = decoders.skipAssertions.map((name) => (name === 'ce' ? 'ce' : 'diff_mean'))
  return { limits, failureRate: decoders.failureRate, skipped, ...wayOf(asked, { own, baseline }) }
}

/** What is known about how noisy a healthy target is. */
interface KnownNoise {
  readonly own: ModelNoise | null
  /** Decodes in the same run; null: none does. */
  readonly baseline: Target | null
}

function gateName({ decoders }: DecodersAsked): GateWay['name'] {
  return decoders.gate ?? (decoders.documented ? 'rate' : 'paired')
}

function wayOf(asked: DecodersAsked, { own, baseline }: KnownNoise): { way: GateWay; note: string | null } {
  const { decoders } = asked
  if (baseline) return { way: { name: 'three-way', baseline }, note: null }
  if (gateName(asked) === 'rate') return { way: { name: 'rate' }, note: null }
  if (own?.sequences) return { way: { name: 'paired', baselineOf: own.sequences, source: own.path }, note: null }
  if (decoders.gate === 'paired') throw noSequences(own)
  return {
    way: { name: 'rate' },
    note: own ? 'rate gate: the thresholds name no sequences of a baseline' : 'rate gate: no thresholds file was given',
  }
}

function noSequences(own: ModelNoise | null): UsageError {
  const found = own ? `${own.path} names no file with sequences of the baseline` : 'no --thresholds file is given'
  return new UsageError('gate', `--gate paired needs the output of the baseline on the same prompts: ${found}`)
}
