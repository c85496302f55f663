import type { DecodedBatch } from './decode-batches.ts'
import type { MeasuredSequence } from './gates/summarise-sequence.ts'

/** Everything that was decoded for a case, batch after batch. */
export interface DecodedBatches {
  readonly batches: DecodedBatch[]
  readonly target: MeasuredSequence[]
  readonly baseline: MeasuredSequence[]
}

export function areTokensEqual({ target }: DecodedBatches): boolean {
  return target.every(({ summary: { divergence, missing } }) => divergence === null && missing === 0)
}
