import { dtypeKind } from '../../domain/dtype.ts'
import type { OutputResult, SensitivityBand } from '../../domain/result.ts'

/**
 * Whether what failed is no more than the reference itself moves under roundings: true only if every failed output is a
 * float over its tolerance, and nothing else is wrong with it, and both its relL2 and its worst error are within its band.
 */
export function insideBand(outputs: readonly OutputResult[], bands: readonly SensitivityBand[]): boolean {
  const failed = outputs.filter((output) => output.verdict === 'fail')
  if (failed.length === 0 || outputs.some((output) => output.verdict === 'error')) return false
  return failed.every((output) =>
    isWithin(
      output,
      bands.find((band) => band.output === output.name),
    ),
  )
}

function isWithin(output: OutputResult, band: SensitivityBand | undefined): boolean {
  if (!band || !isFiniteBand(band) || output.dtype === null || dtypeKind(output.dtype) !== 'float') return false
  if (!output.flags.includes('over-tolerance') || output.flags.includes('non-finite')) return false
  const [relL2, maxAbs] = [measured(output, 'rel_l2'), measured(output, 'max_abs')]
  return relL2 !== null && maxAbs !== null && relL2 <= band.relL2 * band.margin && maxAbs <= band.maxAbs * band.margin
}

/** An unbounded band excuses nothing. */
function isFiniteBand({ relL2, maxAbs, margin }: SensitivityBand): boolean {
  return Number.isFinite(relL2) && Number.isFinite(maxAbs) && Number.isFinite(margin)
}

function measured(output: OutputResult, metric: string): number | null {
  return output.metrics.find(({ name }) => name === metric)?.value ?? null
}
