import { compareTraces } from '../../compare/compare-traces.ts'
import type { ComputeDType } from '../../compare/contract.ts'
import { insideBand } from '../../compare/inside-band.ts'
import { StageError } from '../../domain/errors.ts'
import type { OutputResult, SensitivityBand } from '../../domain/result.ts'
import type { Target, TargetSchema } from '../../domain/target.ts'
import type { Trace } from '../../domain/tensor.ts'
import { digestOf } from '../../files/digest.ts'
import { perturbInputs } from '../../models/perturb.ts'
import { nudgeQuantisers } from '../../onnx/edit.ts'
import { quantisesDynamically } from '../../onnx/graph-facts.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/pool.ts'
import { type CaptureRequest, capture } from './capture.ts'
import type { LoadedModel } from './load.ts'
import type { RuleOf } from './rules.ts'

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
/** Drawn while the target lies outside the band but within `NEAR` times of it. */
const MOST_SAMPLES = 24
const NEAR = 2

export interface BandRequest {
  readonly reference: Target
  readonly schema: TargetSchema
  readonly info: RuntimeInfo
  readonly model: LoadedModel
  readonly inputs: Trace
  readonly inputsDigest: string
  readonly precision: ComputeDType
  readonly trace: Trace
  /** What the target gave, judged. */
  readonly outputs: readonly OutputResult[]
  readonly rules: RuleOf
  readonly seed: number
}

export interface MeasuredBand {
  readonly bands: readonly SensitivityBand[]
  /** Disturbances that could not be run; without them the band is narrower and excuses less. */
  readonly problems: readonly string[]
}

interface Disturbance {
  readonly by: string
  readonly change: Partial<Pick<CaptureRequest, 'target' | 'model' | 'modelDigest' | 'inputs' | 'inputsDigest'>>
}

/**
 * Disturbs the reference by roundings and says, per output, how far that moved it. Where roundings flip decisions every
 * disturbance gives another answer, and the target is one more of them: when it lies just outside, more samples are drawn.
 */
export async function measureBand(request: BandRequest, pool: Pool, lab: Lab): Promise<MeasuredBand> {
  const bands = new Map<string, SensitivityBand>()
  const problems: string[] = []
  const take = async (disturbance: Disturbance) => {
    const samples = await sampleOf(request, disturbance, pool, lab).catch((error: unknown) => {
      if (!(error instanceof StageError)) throw error
      problems.push(`${disturbance.by}: ${error.message}`)
      return []
    })
    for (const sample of samples) bands.set(sample.output, widen(bands.get(sample.output), sample))
  }
  for (const disturbance of [...otherOptions(request), ...nudgedQuantisers(request)]) await take(disturbance)
  for (let i = 0; i < MOST_SAMPLES && wantsMore(i, request.outputs, [...bands.values()]); i++) {
    const disturbance = await disturbedInputs(request, i)
    if (!disturbance) break
    await take(disturbance)
  }
  return { bands: [...bands.values()], problems }
}

function wantsMore(taken: number, outputs: readonly OutputResult[], bands: readonly SensitivityBand[]): boolean {
  if (taken < INPUT_SAMPLES) return true
  const wider = bands.map((band) => ({ ...band, relL2: band.relL2 * NEAR, maxAbs: band.maxAbs * NEAR }))
  return insideBand(outputs, wider) && !insideBand(outputs, bands)
}

async function sampleOf(
  request: BandRequest,
  disturbance: Disturbance,
  pool: Pool,
  lab: Lab,
): Promise<SensitivityBand[]> {
  const moved = await runDisturbed(request, disturbance, pool, lab)
  const options = { ruleOf: request.rules, generated: false, targetDType: null }
  const { outputs } = await compareTraces(request.trace, moved, options)
  return outputs.flatMap(({ name, metrics }) => {
    const value = (metric: string) => metrics.find((found) => found.name === metric)?.value ?? null
    const [relL2, maxAbs] = [value('rel_l2'), value('max_abs')]
    return relL2 === null || maxAbs === null ? [] : [{ output: name, relL2, maxAbs, by: disturbance.by, samples: 1 }]
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
  }
}

async function disturbedInputs(request: BandRequest, sample: number): Promise<Disturbance | null> {
  const relative = ROUNDING[request.precision]
  const seed = request.seed + sample
  const inputs = await perturbInputs(request.inputs, relative, seed)
  if (!inputs) return null
  const inputsDigest = digestOf({ inputs: request.inputsDigest, relative, seed })
  return { by: `inputs moved by ${relative.toExponential(1)}`, change: { inputs, inputsDigest } }
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

function nudgedQuantisers({ model, precision }: BandRequest): Disturbance[] {
  if (!quantisesDynamically(model.model)) return []
  return [1, -1, 2, -2].map((steps) => {
    const relative = steps * ROUNDING[precision]
    const bytes = nudgeQuantisers(model.model, relative)
    const change = {
      model: { format: 'onnx' as const, bytes, folder: model.model.folder },
      modelDigest: digestOf({ model: model.digest, nudged: relative }),
    }
    return { by: `quantisers’ inputs moved by ${relative.toExponential(1)}`, change }
  })
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
