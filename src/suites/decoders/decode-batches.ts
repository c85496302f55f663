import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import type { DecoderShape } from '../../models/prompts/decoder-shapes.ts'
import type { PromptBatch } from '../../models/prompts/prompt-batches.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import { requireRuntime } from '../tensors/sides.ts'
import { type DecodedSide, type DecodeWork, type DecodingModel, decodeSide, ledBy } from './decode-side.ts'
import { type DecoderModel, makeSideModel } from './decoder-model.ts'
import type { TraceRole } from './store/trace-store.ts'
import type { DecodingOptions } from './suite.ts'
import type { InfoBatch } from './validation-info/info-writer.ts'

/** A target with what is known before it decodes. */
export interface Decoder {
  readonly side: Side
  readonly target: Target
  readonly info: RuntimeInfo
  readonly model: DecodingModel
}

/** One batch of prompts: what the reference gave on its own tokens, and others on the same. */
export interface DecodedBatch {
  readonly index: number
  readonly prompts: PromptBatch
  readonly reference: DecodedSide
  readonly followers: readonly DecodedSide[]
}

export interface BatchRequest {
  readonly lab: Lab
  readonly model: DecoderModel
  readonly shape: DecoderShape
  readonly batches: number
  readonly reference: Decoder
  readonly followers: readonly Decoder[]
  readonly options: DecodingOptions
}

/** Finds the runtime of a target and the form of the model that it opens. */
export async function prepareDecoder(
  side: Side,
  target: Target,
  model: DecoderModel,
  options: DecodingOptions,
): Promise<Decoder> {
  const info = await requireRuntime(options, side, target)
  if (!info.capabilities.decode) {
    const message = `${target.name} cannot decode`
    throw options.areDefaults || side === 'target' ? new SkipCase(message) : new StageError('run', message, { side })
  }
  return { side, target, info, model: await makeSideModel(model, side, target, info, options.cwd, options.exports) }
}

/** Batch after batch; while others follow one, the reference goes on with the next. */
export async function* decodeBatches(request: BatchRequest): AsyncGenerator<DecodedBatch, void> {
  const { batches, followers } = request
  let next = begin(request, 0)
  for (let index = 0; index < batches; index++) {
    const begun = await next
    if (index + 1 < batches) {
      next = begin(request, index + 1)
      // Ignored if the caller stops here.
      next.catch(() => {})
    }
    const sides: DecodedSide[] = []
    for (const decoder of followers) {
      sides.push(await follow(request, decoder, begun))
    }
    yield { index, prompts: begun.prompts, reference: begun.reference, followers: sides }
  }
}

/** What the reference gave, before others follow it. */
interface Begun {
  readonly prompts: PromptBatch
  readonly work: DecodeWork
  readonly index: number
  readonly reference: DecodedSide
}

async function begin(request: BatchRequest, index: number): Promise<Begun> {
  const { lab, model, shape, reference: decoder, options } = request
  const { pool, topK, keep, computes, prompts: promptBatches, store, imports, saved } = options
  const prompts = await promptBatches.batch(model, shape, index)
  const eos = saved ? [] : model.eos
  const work: DecodeWork = { lab, pool, batch: prompts.padded, newTokens: shape.newTokens, eos, topK, keep, computes }
  const question = { model, shape, prompts, decoder, eos, topK, keep, followed: null }
  const stored = (await store?.find('reference', question)) ?? (await imports?.reference(model, work, index))
  const reference = stored ?? (await decodeSide(work, decoder.side, decoder.target, decoder.model, decoder.info, null))
  if (!stored) await store?.save('reference', question, reference)
  await saved?.save(lab, 'reference', infoBatch(request, prompts, index), reference)
  return { prompts, work, index, reference }
}

/** Where a baseline follows too, its precision is in the names, as documented. */
function infoBatch({ model, shape, followers }: BatchRequest, { padded }: PromptBatch, index: number): InfoBatch {
  return { model, shape, dtype: followers.at(-1)?.target.options.dtype ?? 'fp32', index, ids: padded.ids }
}

/** Stored traces of followers are used only if nothing may be decoded; otherwise a target runs again. */
async function follow(request: BatchRequest, decoder: Decoder, begun: Begun): Promise<DecodedSide> {
  const { lab, model, shape, options } = request
  const { topK, keep, store, computes, saved } = options
  const { prompts, work, reference, index } = begun
  const role: TraceRole = decoder.side === 'target' ? 'target' : 'baseline'
  const question = { model, shape, prompts, decoder, eos: work.eos, topK, keep, followed: ledBy(reference) }
  const stored = computes ? null : await store?.find(role, question)
  const side = stored ?? (await decodeSide(work, decoder.side, decoder.target, decoder.model, decoder.info, reference))
  if (!stored) await store?.save(role, question, side)
  await saved?.save(lab, role, infoBatch(request, prompts, index), side)
  return side
}
