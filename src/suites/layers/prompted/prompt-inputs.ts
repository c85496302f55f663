import { StageError } from '../../../domain/errors.ts'
import type { Tensor, Trace } from '../../../domain/tensor.ts'
import { memoryTrace } from '../../../files/formats/memory-trace.ts'
import type { PaddedBatch } from '../../../models/prompts/contract.ts'
import { wholeNumbers } from '../../../tensors/whole-numbers.ts'
import { type CaseRequest, sideTask } from '../sides.ts'
import type { ChosenTokens } from './choose-tokens.ts'

/** Prompts as inputs of one forward pass, as far as the reference takes them. */
export async function takePrompts({ ids, mask, positions }: PaddedBatch, request: CaseRequest): Promise<Trace> {
  const { inputs } = await request.options.pool.inspect(sideTask(request, 'reference'))
  const names = inputs.map(({ name }) => name)
  const given = { input_ids: ids, attention_mask: mask, position_ids: positions }
  const isPadded = mask.some((row) => row.includes(0))
  for (const name of ['input_ids', ...(isPadded ? ['attention_mask'] : [])]) {
    if (names.includes(name)) continue
    throw new StageError('inputs', `the model takes no "${name}", so it cannot be given prompts; use --dim or --input`)
  }
  const taken = Object.entries(given).filter(([name]) => names.includes(name))
  return memoryTrace(new Map(taken.map(([name, rows]): [string, Tensor] => [name, wholeNumbers(rows)])))
}

/** Prompts with what was said after them, but for the last token, which no step computes with. */
export function joinText({ ids, mask, positions }: PaddedBatch, tokens: ChosenTokens): PaddedBatch {
  const said = tokens.slice(0, -1)
  return {
    ids: ids.map((row, i) => [...row, ...said.map((step) => step[i]!)]),
    mask: mask.map((row) => [...row, ...said.map(() => 1)]),
    positions: positions.map((row) => [...row, ...said.map((_, step) => row.at(-1)! + 1 + step)]),
  }
}
