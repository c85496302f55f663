import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import { infoOf } from '../onnx/sides.ts'
import { type DecodedSide, type DecodeWork, decodeSide, type SideModel } from './decode-side.ts'
import { type DecoderModel, sideModelOf } from './decoder-model.ts'
import type { PromptBatch } from './prompt-desk.ts'
import type { DecoderShape } from './shapes.ts'
import type { DecodingOptions } from './suite.ts'
import type { TraceRole } from './trace-store.ts'

/** A target with what is known before it decodes. */
export interface Decoder {
  readonly side: Side
  readonly target: Target
  readonly info: RuntimeInfo
  readonly model: SideModel
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

/** Finds out what runs a target and what of the model it opens. */
export async function prepareDecoder(
  side: Side,
  target: Target,
  model: DecoderModel,
  options: DecodingOptions,
): Promise<Decoder> {
  const info = await infoOf(options, side, target)
  if (!info.capabilities.decode) {
    const message = `${target.name} cannot decode`
    throw options.areDefaults || side === 'target' ? new SkipCase(message) : new StageError('run', message, { side })
  }
  return { side, target, info, model: await sideModelOf(model, side, target, info, options.cwd, options.exports) }
}

/** Batch after batch; while others follow one, the reference goes on with the next. */
export async function* decodeBatches(request: BatchRequest): AsyncGenerator<DecodedBatch, void> {
  const { batches, followers } = request
  let next = begin(request, 0)
  for (let index = 0; index < batches; index++) {
    const { prompts, work, reference } = await next
    if (index + 1 < batches) {
      next = begin(request, index + 1)
      // Whoever stops here never asks how it went.
      next.catch(() => {})
    }
    const sides: DecodedSide[] = []
    for (const decoder of followers) {
      const { side, target, model, info } = decoder
      const given = await decodeSide(work, side, target, model, info, reference)
      await save(request, side === 'target' ? 'target' : 'baseline', decoder, prompts, given)
      sides.push(given)
    }
    yield { index, prompts, reference, followers: sides }
  }
}

async function begin(request: BatchRequest, index: number) {
  const { lab, model, shape, reference: decoder, options } = request
  const { pool, topK, keep, prompts: desk, store } = options
  const prompts = await desk.batch(model, shape, index)
  const { eos } = model
  const work: DecodeWork = { lab, pool, batch: prompts.padded, newTokens: shape.newTokens, eos, topK, keep }
  const stored = await store?.find({ model, shape, prompts, decoder, topK, keep })
  if (stored) return { prompts, work, reference: stored }
  const reference = await decodeSide(work, decoder.side, decoder.target, decoder.model, decoder.info, null)
  await save(request, 'reference', decoder, prompts, reference)
  return { prompts, work, reference }
}

async function save(
  { model, shape, options: { topK, keep, store } }: BatchRequest,
  role: TraceRole,
  decoder: Decoder,
  prompts: PromptBatch,
  side: DecodedSide,
): Promise<void> {
  await store?.save(role, { model, shape, prompts, decoder, topK, keep }, side)
}
