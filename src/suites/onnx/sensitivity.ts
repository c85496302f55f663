import { compareTraces } from '../../compare/compare-traces.ts'
import type { ComputeDType } from '../../compare/contract.ts'
import type { SensitivityBand } from '../../domain/result.ts'
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
export async function measureBand(request: BandRequest, pool: Pool, lab: Lab): Promise<SensitivityBand[]> {
  const bands = new Map<string, SensitivityBand>()
  for (const disturbance of await disturbances(request)) {
    const moved = await runDisturbed(request, disturbance, pool, lab)
    const { outputs } = await compareTraces(request.trace, moved, {
      ruleOf: request.rules,
      generated: false,
      targetDType: null,
      indexed: () => undefined,
    })
    for (const { name, metrics } of outputs) {
      const value = (metric: string) => metrics.find((m) => m.name === metric)?.value ?? 0
      bands.set(
        name,
        widen(bands.get(name), {
          output: name,
          relL2: value('rel_l2'),
          maxAbs: value('max_abs'),
          by: disturbance.by,
          samples: 1,
        }),
      )
    }
  }
  return [...bands.values()]
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

async function disturbances(request: BandRequest): Promise<Disturbance[]> {
  return [...(await disturbedInputs(request)), ...otherOptions(request), ...nudgedQuantisers(request)]
}

async function disturbedInputs(request: BandRequest): Promise<Disturbance[]> {
  const relative = ROUNDING[request.precision]
  const samples: Disturbance[] = []
  for (let sample = 0; sample < INPUT_SAMPLES; sample++) {
    const inputs = await perturbInputs(request.inputs, relative, request.seed + sample)
    if (!inputs) return samples
    const inputsDigest = digestOf({ inputs: request.inputsDigest, relative, seed: request.seed + sample })
    samples.push({ by: `inputs moved by ${relative.toExponential(1)}`, change: { inputs, inputsDigest } })
  }
  return samples
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
