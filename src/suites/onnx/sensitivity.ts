import { compareTraces } from '../../compare/compare-traces.ts'
import type { ComputeDType } from '../../compare/contract.ts'
import { toleranceFor } from '../../compare/rules/tolerances.ts'
import { StageError } from '../../domain/errors.ts'
import type { SensitivityBand } from '../../domain/result.ts'
import type { Target, TargetSchema } from '../../domain/target.ts'
import type { Tensor, Trace } from '../../domain/tensor.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { fileMeasurer } from '../../files/parallel/file-measurer.ts'
import { perturbInputs, shiftTensor } from '../../models/inputs/perturb.ts'
import { nudgeQuantisers } from '../../onnx/edit.ts'
import { quantisesDynamically } from '../../onnx/graph-facts.ts'
import { isAroundOne } from '../../onnx/inputs/arithmetic.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { type CaptureRequest, capture } from '../tensors/capture.ts'
import type { MeasuredBand } from '../tensors/judging/judgement.ts'
import type { LoadedModel } from '../tensors/load.ts'
import type { RuleOf } from '../tensors/rules.ts'

/** One rounding of a value near 1, by the precision that the target computes in. */
const ROUNDING: Readonly<Record<ComputeDType, number>> = {
  float64: 2 ** -52,
  float32: 2 ** -23,
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
  float8e4m3fn: 2 ** -3,
  float8e4m3fnuz: 2 ** -3,
  float8e5m2: 2 ** -2,
  float8e5m2fnuz: 2 ** -2,
  // Integer kernels still take and give 32-bit floats; their own steps are disturbed at the quantisers.
  int8: 2 ** -23,
}

const INPUT_SAMPLES = 4
/**
 * Roundings that a quantiser's input has gathered on its way, each element its own: healthy float kernels differ by so many
 * (InstanceNormalization of Moonshine's encoder by up to 343 between onnxruntime-node and -web). Beyond 64 the effect
 * does not grow any more.
 */
const NUDGES = [64, 32, 16, 8]
const NUDGE_SAMPLES = 12
/** Fast enough that neighbouring elements move apart. */
const WAVE = 997.13
/**
 * Flipped integers make every sample another draw of one distribution, and a healthy target is the next draw: one in
 * thirteen would lie beyond the largest of twelve. Of 32 inputs of Moonshine's encoder 29 lay within it, all within 1.3 times.
 */
const NEXT_DRAW = 1.5

export interface BandRequest {
  readonly reference: Target
  readonly schema: TargetSchema
  readonly info: RuntimeInfo
  readonly model: LoadedModel
  readonly inputs: Trace
  readonly inputsDigest: string
  readonly precision: ComputeDType
  readonly trace: Trace
  readonly rules: RuleOf
  readonly seed: number
}

interface Disturbance {
  readonly by: string
  readonly change: Partial<Pick<CaptureRequest, 'target' | 'model' | 'modelDigest' | 'inputs' | 'inputsDigest'>>
}

/** Disturbs the reference by roundings and says, per output, how far that moved it. */
export async function measureBand(request: BandRequest, pool: Pool, lab: Lab): Promise<MeasuredBand> {
  const bands = new Map<string, SensitivityBand>()
  const problems: string[] = []
  for await (const disturbance of disturbances(request)) {
    const samples = await sampleOf(request, disturbance, pool, lab).catch((error: unknown) => {
      if (!(error instanceof StageError)) throw error
      problems.push(`${disturbance.by}: ${error.message}`)
      return []
    })
    for (const sample of samples) bands.set(sample.output, widen(bands.get(sample.output), sample))
  }
  for (const sample of await roundedAroundOne(request))
    bands.set(sample.output, widen(bands.get(sample.output), sample))
  const margin = quantisesDynamically(request.model.model) ? NEXT_DRAW : 1
  return { bands: [...bands.values()].map((band) => ({ ...band, margin })), problems }
}

/** One at a time: each holds a copy of the inputs or of the model. */
async function* disturbances(request: BandRequest): AsyncGenerator<Disturbance> {
  yield* otherOptions(request)
  yield* disturbedInputs(request)
  if (quantisesDynamically(request.model.model)) yield* nudgedQuantisers(request)
}

async function sampleOf(
  request: BandRequest,
  disturbance: Disturbance,
  pool: Pool,
  lab: Lab,
): Promise<SensitivityBand[]> {
  return measureMoved(request, await runDisturbed(request, disturbance, pool, lab), disturbance.by)
}

/**
 * Of outputs that come out of a Sigmoid: what the roundings are worth that a layer of it is granted. No disturbance of the
 * reference shows them, for one kernel makes the same ones every time.
 */
async function roundedAroundOne(request: BandRequest): Promise<SensitivityBand[]> {
  const { model, precision, trace } = request
  const values = trace.values.filter(({ name }) => isAroundOne(model.model.graph, name))
  if (values.length === 0) return []
  const { rounding } = toleranceFor(precision, 'layer', { terms: 1, aroundOne: true })
  const tensors = new Map<string, Tensor>()
  for (const { name } of values) tensors.set(name, await shiftTensor(trace.tensors.get(name)!, rounding))
  const kept = { values, tensors: new Map(values.map(({ name }) => [name, trace.tensors.get(name)!])) }
  return measureMoved({ ...request, trace: kept }, memoryTrace(tensors, values), 'roundings around 1 in its Sigmoid')
}

async function measureMoved({ rules, trace }: BandRequest, moved: Trace, by: string): Promise<SensitivityBand[]> {
  const options = { ruleOf: rules, generated: false, targetDType: null, measurer: fileMeasurer() }
  const { outputs } = await compareTraces(trace, moved, options)
  return outputs.flatMap(({ name, metrics }) => {
    const value = (metric: string) => metrics.find((found) => found.name === metric)?.value ?? null
    const [relL2, maxAbs] = [value('rel_l2'), value('max_abs')]
    return relL2 === null || maxAbs === null ? [] : [{ output: name, relL2, maxAbs, by, samples: 1, margin: 1 }]
  })
}

function widen(band: SensitivityBand | undefined, sample: SensitivityBand): SensitivityBand {
  if (!band) return sample
  return {
    output: band.output,
    relL2: Math.max(band.relL2, sample.relL2),
    maxAbs: Math.max(band.maxAbs, sample.maxAbs),
    by: sample.relL2 > band.relL2 ? sample.by : band.by,
    samples: band.samples + 1,
    margin: band.margin,
  }
}

async function* disturbedInputs(request: BandRequest): AsyncGenerator<Disturbance> {
  const relative = ROUNDING[request.precision]
  for (let seed = request.seed; seed < request.seed + INPUT_SAMPLES; seed++) {
    const inputs = await perturbInputs(request.inputs, relative, seed)
    if (!inputs) return
    const inputsDigest = computeDigest({ inputs: request.inputsDigest, relative, seed })
    yield { by: `inputs moved by ${relative.toExponential(1)}`, change: { inputs, inputsDigest } }
  }
}

function otherOptions({ reference, schema }: BandRequest): Disturbance[] {
  const flipped = { optimization: ['disabled', 'all'], threads: ['2', '1'] } as const
  return Object.entries(flipped).flatMap(([key, [first, second]]) => {
    const usual = schema.options[key]
    if (usual === undefined) return []
    const current = reference.options[key] ?? usual
    const value = current === first ? second : first
    return [
      { by: `${key}=${value}`, change: { target: { ...reference, options: { ...reference.options, [key]: value } } } },
    ]
  })
}

function* nudgedQuantisers({ model, precision }: BandRequest): Generator<Disturbance> {
  for (let sample = 0; sample < NUDGE_SAMPLES; sample++) {
    const relative = NUDGES[sample % NUDGES.length]! * ROUNDING[precision]
    const wave = WAVE * (1 + sample)
    const bytes = nudgeQuantisers(model.model, relative, wave)
    const change = {
      model: { format: 'onnx' as const, bytes, folder: model.model.folder },
      modelDigest: computeDigest({ model: model.digest, nudged: relative, wave }),
    }
    yield { by: `quantisers’ inputs moved by ${relative.toExponential(1)}`, change }
  }
}

async function runDisturbed(request: BandRequest, disturbance: Disturbance, pool: Pool, lab: Lab): Promise<Trace> {
  const capturing: CaptureRequest = {
    target: request.reference,
    side: 'reference',
    title: `sensitivity: ${disturbance.by}`,
    model: { format: 'onnx', path: request.model.path },
    modelDigest: request.model.digest,
    expects: request.model.model.outputs,
    inputs: request.inputs,
    inputsDigest: request.inputsDigest,
    ...disturbance.change,
  }
  return (await capture(capturing, request.info, pool, lab)).trace
}
