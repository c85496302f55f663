import { StageError } from '../../domain/errors.ts'
import type { MetricShape } from '../../files/formats/metric-prefix.ts'
import type { Judgement } from '../../runs/contract.ts'
import { METRICS, type MetricName, type SequenceSummary } from './gates/contract.ts'
import type { MeasuredSequence } from './gates/summarise-sequence.ts'
import { writeMetricFiles } from './store/metric-files.ts'
import { type SequencesFile, writeSequences } from './store/sequences-file.ts'

/** What was learnt about a baseline, and its source. */
export interface Learnt extends Omit<SequencesFile, 'created' | 'sequences' | 'shape'> {
  readonly folder: string
  readonly shape: MetricShape
  readonly measured: readonly MeasuredSequence[]
}

/** Writes metric files, and says what they are of. */
export async function captureBaseline(learnt: Learnt, measurements: Judgement['measurements']): Promise<Judgement> {
  const { folder, measured, ...facts } = learnt
  const summaries = measured.map(({ summary }) => summary)
  refuseNothing(summaries)
  const tokens = measured.flatMap((sequence) => sequence.tokens)
  const names = Object.entries(METRICS) as [MetricName, (typeof METRICS)[MetricName]][]
  const values = Object.fromEntries(names.map(([name, key]) => [name, tokens.map((token) => token[key])]))
  const paths = await writeMetricFiles(folder, facts.model, facts.shape, values as Record<MetricName, number[]>)
  paths.push(await writeSequences(folder, { ...facts, created: new Date().toISOString(), sequences: summaries }))
  const counted = `${tokens.length} tokens of ${summaries.length} sequences`
  return {
    verdict: 'captured',
    reason: `${counted}: ${paths.length} files in ${folder}`,
    flags: [],
    coverage: { compared: tokens.length, expected: tokens.length },
    metrics: [],
    outputs: [],
    worst: [],
    figures: [counted, ...paths],
    measurements,
  }
}

/** Values that are not numbers, or no values at all, must never become a threshold. */
function refuseNothing(summaries: readonly SequenceSummary[]): void {
  const broken = summaries.findIndex(({ error, missing }) => Number.isNaN(error) || missing > 0)
  if (broken >= 0)
    throw new StageError(
      'compare',
      `sequence ${broken} has logits that are not numbers, or lacks tokens; no baseline can be learnt from it`,
    )
  if (summaries.every(({ kept }) => kept === 0)) {
    throw new StageError(
      'compare',
      'no token was kept: the reference ends every sequence immediately; give other prompts',
    )
  }
}
