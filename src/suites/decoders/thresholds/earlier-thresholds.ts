import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import type { MetricName } from '../gates/contract.ts'
import { type MetricFile, trimMetric } from '../store/metric-files.ts'
import { compareModels } from '../store/model-digests.ts'
import { readThresholds, type ThresholdsFile, thresholdsPath } from '../store/thresholds-file.ts'

/** The file that is about to be written over. */
interface Earlier {
  readonly metrics: readonly MetricName[]
  /** Why it is not of the same model and measurement; null: it is. */
  readonly other: string | null
  readonly name: string
}

/** null: there is none. */
export async function earlierThresholds(folder: string, next: ThresholdsFile): Promise<Earlier | null> {
  const path = thresholdsPath(folder, next.model)
  if (!existsSync(path)) return null
  const name = basename(path)
  try {
    const earlier = await readThresholds(path)
    return { metrics: Object.keys(earlier.metrics) as MetricName[], other: otherness(earlier, next), name }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return { metrics: [], other: 'it was not a thresholds file of assay', name }
  }
}

function otherness(earlier: ThresholdsFile, next: ThresholdsFile): string | null {
  const { differs } = compareModels(earlier.digests ?? {}, next.digests ?? {})
  if (differs !== null) return `it was learnt from another model of this name (${differs} differs)`
  const key = (['reference', 'baseline', 'dataset'] as const).find((each) => earlier[each] !== next[each])
  return key === undefined ? null : `it was learnt with the ${key} ${earlier[key] ?? '(not recorded)'}`
}

/** Which of its metrics can be learnt again, and which not: every shape must have the file. */
export function sortEarlier(
  earlier: Earlier | null,
  model: string,
  all: readonly MetricFile[],
  asked: readonly MetricName[],
): { readonly kept: readonly MetricName[]; readonly lost: readonly MetricName[] } {
  const others = (earlier?.metrics ?? []).filter((metric) => !asked.includes(metric))
  if (earlier === null || earlier.other !== null) return { kept: [], lost: others }
  const own = all.filter((file) => file.model === model)
  const shapes = [...new Set(own.map(({ path }) => trimMetric(path)))]
  const isWhole = (metric: MetricName) =>
    shapes.every((prefix) => own.some((file) => file.metric === metric && trimMetric(file.path) === prefix))
  return { kept: others.filter(isWhole), lost: others.filter((metric) => !isWhole(metric)) }
}

/** null: all that it had is in the new one. */
export function replacedText(earlier: Earlier | null, lost: readonly MetricName[]): string | null {
  if (earlier === null || (earlier.other === null && lost.length === 0)) return null
  const { name, other } = earlier
  const gone = lost.length === 0 ? '' : `; ${lost.join(' and ')} of it is gone; ask for it with --metrics`
  if (other !== null) return cleanText(`${name} is replaced: ${other}${gone}`)
  return cleanText(`${lost.join(' and ')} in ${name} is not kept: a shape no longer has a metric file for it`)
}
