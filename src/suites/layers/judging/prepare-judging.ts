import type { MeasuredRun } from '../describe-layers.ts'
import { withMetrics } from '../measured-layer.ts'
import type { LayerJudging, LayerLimits } from './contract.ts'
import { limitsOfBaseline, limitsOfFile } from './layer-limits.ts'
import type { JudgedBy } from './load-judging.ts'

interface JudgingRequest {
  /** null: nothing is judged. */
  readonly judgedBy: JudgedBy | null
  /** Runs the baseline beside the reference. */
  readonly measureBaseline: (baseline: Baseline) => Promise<MeasuredRun>
  readonly replay: LayerJudging['replay']
}

type Baseline = Extract<JudgedBy, { readonly baseline: unknown }>['baseline']

export async function prepareJudging({
  judgedBy,
  measureBaseline,
  replay,
}: JudgingRequest): Promise<LayerJudging | null> {
  if (!judgedBy) return null
  const { margin } = judgedBy
  return { limits: await limitsBy(judgedBy, measureBaseline), margin, replay }
}

async function limitsBy(judgedBy: JudgedBy, measure: JudgingRequest['measureBaseline']): Promise<LayerLimits> {
  if ('thresholds' in judgedBy) return limitsOfFile(judgedBy.path, judgedBy.thresholds)
  const { baseline } = judgedBy
  return limitsOfBaseline(baseline.name, withMetrics((await measure(baseline)).tensors))
}
