import { kernelName } from '../../compare/kernels/lend.ts'
import { largestIds } from '../../compare/largest-ids.ts'
import type { Logits } from '../../domain/logits.ts'
import { type ReducedRow, RowKernel } from '../../tensors/reduce/row-kernel.ts'
import { RUN } from '../../tensors/reduce/row-layout.ts'
import type { DecodeKeep, DecodeRequest, SequenceStep } from '../contract.ts'

type Facts = Pick<SequenceStep, 'chosen' | 'logSumExp' | 'nonFinite'>
type Kept = Pick<SequenceStep, 'top' | 'at' | 'logits'>

/** The next token of one sequence, and the reported facts about its logits. */
export function readRow(
  row: Logits,
  { keep, eos }: Pick<DecodeRequest, 'keep' | 'eos'>,
  forced: number | null,
  at: readonly number[] | undefined,
): SequenceStep {
  const reduced = reduce(row)
  const facts = reduced ? factsOfFinite(row, reduced) : factsOf(row)
  const token = forced ?? facts.chosen
  const ended = token === null || eos.includes(token)
  return { ...facts, token, ended, ...keptOf(row, keep, at, reduced?.peaks) }
}

/** Below, it takes longer to copy a row than to read it. */
const SHORT = 256
let kernel: RowKernel | null = null

/** null: the row is short, of float64 or not finite, or there are no kernels here. */
function reduce(row: Logits): ReducedRow | null {
  if (row instanceof Float64Array || row.length < SHORT || kernelName() !== 'wasm') return null
  kernel ??= new RowKernel()
  return kernel.reduce(row)
}

function factsOfFinite(row: Logits, { most, peaks, logSumExp: sum }: ReducedRow): Facts {
  const nonFinite = { nan: 0, positiveInfinity: 0, negativeInfinity: 0 }
  return { chosen: row.indexOf(most, peaks.indexOf(most) * RUN), logSumExp: sum, nonFinite }
}

function factsOf(row: Logits): Facts {
  const { most, chosen, nonFinite } = survey(row)
  return { chosen, nonFinite, logSumExp: nonFinite.nan > 0 ? Number.NaN : logSumExp(row, most) }
}

function keptOf(row: Logits, keep: DecodeKeep, at: readonly number[] | undefined, peaks?: Float32Array): Kept {
  if (keep === 'full') return { logits: row.slice() }
  const ids = largestIds(row, Math.min(keep.topK, row.length), peaks)
  return { top: { ids, logits: pick(row, ids) }, ...(at && { at: pick(row, at) }) }
}

function survey(row: Logits) {
  let [most, chosen, nan, positiveInfinity, negativeInfinity] = [Number.NEGATIVE_INFINITY, -1, 0, 0, 0]
  for (let id = 0; id < row.length; id++) {
    const logit = row[id]!
    if (logit > most || (chosen < 0 && logit === most)) {
      most = logit
      chosen = id
    }
    // Only of what is not finite the difference with itself is not 0.
    if (logit - logit === 0) continue
    if (logit > 0) positiveInfinity++
    else if (logit < 0) negativeInfinity++
    else nan++
  }
  const nonFinite = { nan, positiveInfinity, negativeInfinity }
  return { most, chosen: chosen < 0 ? null : chosen, nonFinite }
}

function logSumExp(row: Logits, most: number): number {
  if (!Number.isFinite(most)) return most
  let sum = 0
  for (let id = 0; id < row.length; id++) sum += Math.exp(row[id]! - most)
  return most + Math.log(sum)
}

function pick(row: Logits, ids: readonly number[]): Logits {
  return row instanceof Float32Array
    ? Float32Array.from(ids, (id) => row[id]!)
    : Float64Array.from(ids, (id) => row[id]!)
}
