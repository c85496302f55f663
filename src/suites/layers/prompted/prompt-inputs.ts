import { StageError } from '../../../domain/errors.ts'
import type { Tensor, Trace } from '../../../domain/tensor.ts'
import { memoryTrace } from '../../../files/formats/memory-trace.ts'
import type { PaddedBatch } from '../../../models/prompts/contract.ts'
import { wholeNumbers } from '../../../tensors/whole-numbers.ts'

/** Prompts as inputs of one forward pass, as far as the model takes them. */
export function promptInputs({ ids, mask, positions }: PaddedBatch, names: readonly string[]): Trace {
  const given = { input_ids: ids, attention_mask: mask, position_ids: positions }
  const isPadded = mask.some((row) => row.includes(0))
  for (const name of ['input_ids', ...(isPadded ? ['attention_mask'] : [])]) {
    if (names.includes(name)) continue
    throw new StageError('inputs', `the model takes no "${name}", so it cannot be given prompts; use --dim or --input`)
  }
  const taken = Object.entries(given).filter(([name]) => names.includes(name))
  return memoryTrace(new Map(taken.map(([name, rows]): [string, Tensor] => [name, wholeNumbers(rows)])))
}
