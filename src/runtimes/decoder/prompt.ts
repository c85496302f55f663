import { StageError } from '../../domain/errors.ts'
import { formatShape } from '../../domain/tensor.ts'
import type { DecodeRequest } from '../contract.ts'

export type PromptRows = readonly (readonly number[])[]

/** Refuses a prompt that no model could be given. */
export function checkPrompt({ ids, mask, positions }: Pick<DecodeRequest, 'ids' | 'mask' | 'positions'>): void {
  const shape = shapeOf(ids)
  for (const [name, rows] of [['mask', mask] as const, ['positions', positions] as const]) {
    if (rows && formatShape(shapeOf(rows)) !== formatShape(shape)) {
      throw failed(`${name} has shape ${formatShape(shapeOf(rows))}, the ids have ${formatShape(shape)}`)
    }
  }
  if (shape.includes(0)) {
    throw failed(`ids have shape ${formatShape(shape)}, expected (batch, prompt length), neither of them 0`)
  }
  if (mask.some((row) => row.at(-1) !== 1)) throw failed('the mask ends with 0; prompts are padded on the left')
}

/** Refuses inputs that the model would silently ignore. */
export function refuseUnheard(
  { mask, positions }: DecodeRequest,
  ports: { readonly mask: unknown; readonly positions: unknown },
): void {
  if (ports.mask === null && mask.flat().includes(0)) {
    throw failed(
      'the model takes no "attention_mask", so no prompt may be padded; decode prompts of one length together',
    )
  }
  const isOwn = positions && JSON.stringify(positions) !== JSON.stringify(countedPositions(mask))
  if (ports.positions === null && isOwn) {
    throw failed('the model takes no "position_ids", but positions other than 0, 1, 2 … were given')
  }
}

/** 0 for padding, then 0, 1, 2 … */
export function countedPositions(mask: PromptRows): PromptRows {
  return mask.map((row) => {
    let seen = 0
    return row.map((one) => {
      seen += one
      return Math.max(0, seen - 1)
    })
  })
}

export function checkTokens(ids: Iterable<number | null>, vocabulary: number, what: string): void {
  for (const token of ids) {
    if (token === null || (Number.isInteger(token) && token >= 0 && token < vocabulary)) continue
    throw failed(`${what} has the token ${token}; the model's vocabulary has ${vocabulary}`)
  }
}

/** A vocabulary of null is not known yet. */
export function checkForced(
  forced: readonly (number | null)[] | undefined,
  batch: number,
  vocabulary: number | null,
): void {
  if (!forced) return
  if (forced.length !== batch) throw failed(`force has ${forced.length} entries for ${batch} sequences`)
  if (vocabulary !== null) checkTokens(forced, vocabulary, 'force')
}

export function checkAt(at: PromptRows | undefined, batch: number, width: number): void {
  if (!at) return
  if (at.length !== batch) throw failed(`at has ${at.length} lists for ${batch} sequences`)
  const wrong = at.flat().find((token) => !(token >= 0 && token < width))
  if (wrong !== undefined) throw failed(`at has the token ${wrong}; there are ${width} logits`)
}

function shapeOf(rows: PromptRows): number[] {
  return [rows.length, rows[0]?.length ?? 0]
}

export function failed(message: string): StageError {
  return new StageError('run', message)
}
