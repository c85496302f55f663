import type { TextBlock } from '../../domain/result.ts'
import { cleanText, formatNumber } from '../../domain/text.ts'
import type { DecodedBatch } from './decode-batches.ts'
import { decodeSide } from './decode-side.ts'
import type { DecoderModel } from './decoder-model.ts'
import type { Described } from './describe-decoder.ts'
import { keptCount } from './gates/compare-tokens.ts'
import type { KeptStep } from './gates/contract.ts'

const SHOWN = 3
const TOP_SHOWN = 5
const PROMPT_LENGTH = 400
const TEXT_LENGTH = 600
/** Stands where the two part. */
const MARK = '▸'

interface Place {
  readonly batch: DecodedBatch
  readonly sequence: number
  /** Over all batches. */
  readonly number: number
  readonly step: number | null
}

/** What both sides wrote to some prompts: first those where they part earliest. */
export async function writeTranscripts(described: Described, hasToExplain: boolean): Promise<TextBlock[]> {
  if (!described.context.transcripts && !hasToExplain) return []
  const all = placesOf(described)
  const parted = all.filter(({ step }) => step !== null).sort((a, b) => a.step! - b.step!)
  const chosen = parted.length > 0 ? parted.slice(0, SHOWN) : all.slice(0, 1)
  const own = new Map<DecodedBatch, readonly (readonly KeptStep[])[]>()
  for (const { batch, step } of chosen) {
    if (step !== null && described.context.computes && !own.has(batch))
      own.set(batch, await ownContinuation(described, batch))
  }
  return Promise.all(chosen.map((place) => blockOf(place, described, own.get(place.batch) ?? null)))
}

function placesOf({ decoded }: Described): Place[] {
  let number = 0
  return decoded.batches.flatMap((batch) =>
    batch.prompts.prompts.map((_, sequence) => {
      const { divergence } = decoded.target[number]!.summary
      return { batch, sequence, number: number++, step: divergence?.step ?? null }
    }),
  )
}

/** What the target writes on its own tokens. */
async function ownContinuation(described: Described, batch: DecodedBatch): Promise<readonly (readonly KeptStep[])[]> {
  const { c, lab, context, decoders } = described
  const { target, model, info } = decoders.target
  const { pool, topK, computes } = context
  const { eos } = c.plan.model
  const { newTokens } = c.shape
  const work = { lab, pool, batch: batch.prompts.padded, newTokens, eos, topK, keep: 'top', computes } as const
  return (await decodeSide(work, 'target', target, model, info, null)).trace.sequences
}

async function blockOf(
  place: Place,
  { c }: Described,
  own: readonly (readonly KeptStep[])[] | null,
): Promise<TextBlock> {
  const { batch, sequence, number, step } = place
  const { model } = c.plan
  const whole = batch.reference.trace.sequences[sequence]!
  const end = keptCount(whole, model.eos) + 1
  const reference = whole.slice(0, end)
  const target = own?.[sequence] ?? batch.followers[0]!.trace.sequences[sequence]!.slice(0, end)
  const title = step === null ? `sequence ${number}: equal` : `sequence ${number}: differs at token ${step}`
  return {
    title,
    lines: [
      { label: 'prompt', text: cleanText(batch.prompts.prompts[sequence]!.text, PROMPT_LENGTH) },
      { label: 'reference', text: await continuation(reference, step, model) },
      { label: 'target', text: await continuation(target, step, model) },
      ...(step === null
        ? []
        : await topLines(reference[step], batch.followers[0]!.trace.sequences[sequence]![step], model)),
    ],
  }
}

async function continuation(
  steps: readonly KeptStep[],
  parts: number | null,
  { tokenizer }: DecoderModel,
): Promise<string> {
  const ids = steps.flatMap(({ token }) => (token === null ? [] : [token]))
  if (parts === null) return cleanText(await tokenizer.decode(ids), TEXT_LENGTH)
  const [same, other] = [await tokenizer.decode(ids.slice(0, parts)), await tokenizer.decode(ids.slice(parts))]
  return `${cleanText(same, TEXT_LENGTH)}${MARK}${cleanText(other, TEXT_LENGTH)}`
}

async function topLines(
  reference: KeptStep | undefined,
  target: KeptStep | undefined,
  { tokenizer }: DecoderModel,
): Promise<TextBlock['lines']> {
  const line = async (step: KeptStep | undefined) => {
    const pieces = await tokenizer.eachPiece((step?.top.ids ?? []).slice(0, TOP_SHOWN))
    return pieces.map((piece, i) => `"${cleanText(piece, 40)}" ${formatNumber(step!.top.logits[i]!)}`).join('  ')
  }
  return [
    { label: `top ${TOP_SHOWN}`, text: `reference  ${await line(reference)}` },
    { label: '', text: `target     ${await line(target)}` },
  ]
}
