import { StageError } from '../../../domain/errors.ts'
import { type DecoderShape, nameScope } from '../../../models/prompts/decoder-shapes.ts'
import type { SavedSequence } from '../../../runtimes/python/validation-info.ts'
import type { DecoderModel } from '../decoder-model.ts'
import type { InfoHint } from './info-folders.ts'
import { isNamed, type SavedBatch } from './refusal.ts'

/** The same prompts on both devices, the second led along the tokens of the first. */
export interface InfoPair {
  readonly reference: SavedBatch
  readonly follower: SavedBatch
}

export interface WantedPairs {
  readonly model: Pick<DecoderModel, 'given' | 'name'>
  readonly shape: DecoderShape
  readonly batches: number
  /** undefined: whichever the names say. */
  readonly dtype: string | undefined
  /** Where they were looked for. */
  readonly folder: string
}

type Hinted = SavedBatch & { readonly hint: InfoHint }

/** Device of the baseline, as names have it. */
export const FOLLOWER = 'cuda'

/** The pairs of all batches, in their order, with the precision of the second device. */
export function pairsFor(
  saved: readonly SavedBatch[],
  wanted: WantedPairs,
): { readonly dtype: string; readonly pairs: readonly InfoPair[] } {
  const hinted = saved.filter((each): each is Hinted => each.hint !== null)
  const fitting = hinted.filter((each) => isOf(each, wanted))
  const prefixes = [...new Set(fitting.map(({ hint }) => hint.prefix))]
  const [prefix] = prefixes
  if (prefix === undefined) throw nothingFor(hinted, wanted)
  if (prefixes.length > 1) {
    throw refused(`${prefixes.join(' and ')} both fit ${nameScope(wanted.shape)}; choose one with --default-dtype`)
  }
  const dtype = fitting[0]!.hint.of?.shape.dtype ?? wanted.dtype
  if (dtype === undefined) throw refused(`the name ${prefix} does not include a precision; give --default-dtype`)
  return { dtype, pairs: Array.from({ length: wanted.batches }, (_, index) => pairOf(fitting, index, wanted)) }
}

/** By its name where that can be read, by its sizes where not. */
function isOf({ hint: { of }, content }: Hinted, { model, shape, dtype }: WantedPairs): boolean {
  if (of) {
    const { batchSize, promptLength, newTokens } = of.shape
    const isShape = nameScope({ batchSize, promptLength, newTokens }) === nameScope(shape)
    return isShape && isNamed(of.model, model) && (dtype === undefined || of.shape.dtype === dtype)
  }
  return 'sequences' in content && sizeProblem(content.sequences, shape) === null
}

function pairOf(fitting: readonly Hinted[], index: number, wanted: WantedPairs): InfoPair {
  const of = (device: string) => fitting.find(({ hint }) => hint.device === device && hint.index === index)
  const [reference, follower] = [of('cpu'), of(FOLLOWER)]
  if (!reference || !follower) throw missing(fitting, index, reference ? FOLLOWER : 'cpu', wanted)
  const [led, leading] = [sequencesOf(follower, wanted), sequencesOf(reference, wanted)]
  for (const [i, { tokens, logits }] of leading.entries()) {
    const place = tokens.findIndex((token, j) => token !== led[i]!.tokens[j])
    if (place >= 0) throw refused(`${follower.name} was not led along ${reference.name}: ${i}.pt differs at ${place}`)
    if (logits![1] !== led[i]!.logits![1])
      throw refused(`${follower.name} has a different vocabulary from ${reference.name}`)
  }
  return { reference, follower }
}

function missing(fitting: readonly Hinted[], index: number, device: string, { batches, shape }: WantedPairs) {
  const { prefix } = fitting[0]!.hint
  const text = `${prefix}.${device}_validation_info.${index}.out is not there, and ${batches} batches are asked for`
  const advice = index === 0 ? '' : `; --tokens-per-sequence ${index * shape.newTokens} uses those before it`
  return refused(`${text}${advice}`)
}

function sequencesOf({ name, content }: Hinted, { shape }: WantedPairs): readonly SavedSequence[] {
  const why = 'problem' in content ? content.problem : sizeProblem(content.sequences, shape)
  if (why !== null || 'problem' in content) throw refused(`${name} cannot be used: ${why}`)
  return content.sequences
}

function sizeProblem(sequences: readonly SavedSequence[], shape: DecoderShape): string | null {
  const { batchSize, promptLength, newTokens } = shape
  if (sequences.length !== batchSize) return `it has ${sequences.length} sequences, expected ${batchSize}`
  if (sequences.some(({ logits }) => logits === null)) return 'it holds tokens but no logits'
  const other = sequences.find(({ logits }) => logits![0] !== newTokens)
  if (other) return `it has ${other.logits![0]} new tokens, expected ${newTokens}`
  const long = sequences.find(({ tokens }) => tokens.length !== promptLength + newTokens)
  return long ? `its prompts have ${long.tokens.length - newTokens} tokens, expected ${promptLength}` : null
}

const SHOWN = 4

function nothingFor(hinted: readonly Hinted[], { model, shape, dtype, folder }: WantedPairs): StageError {
  const asked = `${nameScope(shape)}${dtype === undefined ? '' : ` in ${dtype}`}`
  const prefixes = [...new Set(hinted.map(({ hint }) => hint.prefix))]
  const more = prefixes.length > SHOWN ? ` and ${prefixes.length - SHOWN} more` : ''
  const there = `${prefixes.slice(0, SHOWN).join(', ')}${more}`
  const broken = hinted.flatMap(({ name, content }) => ('problem' in content ? [`; ${name}: ${content.problem}`] : []))
  return refused(`${folder} has nothing saved of ${model.given} for ${asked}; it has: ${there}${broken[0] ?? ''}`)
}

function refused(text: string): StageError {
  return new StageError('import', text)
}
