import { refusePositions } from '../../models/prompts/decoder-shapes.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import { warmUp } from '../tensors/sides.ts'
import { type DecodedBatch, decodeBatches, prepareDecoder } from './decode-batches.ts'
import type { DecodedSide } from './decode-side.ts'
import { areTokensEqual, type DecodedBatches } from './decoded-batches.ts'
import type { DecoderModel } from './decoder-model.ts'
import { describeDecoder } from './describe-decoder.ts'
import { applyGate, isSettled } from './gates/gate-choice.ts'
import { type MeasuredSequence, measureSequence } from './gates/summarise-sequence.ts'
import { LogLines } from './log-lines.ts'
import type { DecoderCase, DecodersSuiteOptions } from './suite.ts'

/** Prompts, the reference on its own tokens, the target on the same; tokens first, then logits against the gate. */
export async function judgeDecoder(c: DecoderCase, lab: Lab, context: DecodersSuiteOptions): Promise<Judgement> {
  const { plan, underTest, shape, batches } = c
  const { model, gate } = plan
  const baselineTarget = gate.way.name === 'three-way' ? gate.way.baseline : null
  warmUp(context.pool, [plan.reference, underTest, baselineTarget])
  refusePositions(model, shape)
  const prepare = (side: 'reference' | 'target', target: typeof underTest) =>
    prepareDecoder(side, target, model, context)
  const reference = await prepare('reference', plan.reference)
  const target = await prepare('target', underTest)
  const baseline = baselineTarget && (await prepare('reference', baselineTarget))
  const followers = baseline ? [target, baseline] : [target]
  const log = new LogLines(context.log, c)
  const decoded: DecodedBatches = { batches: [], target: [], baseline: [] }
  const request = { lab, model, shape, batches, reference, followers, options: context }
  log.begin()
  for await (const batch of decodeBatches(request)) {
    await addBatch(decoded, batch, model, lab)
    log.batch(batch, decoded)
    if (stopsAfter(batch, decoded, c, context)) break
  }
  const outcome = applyGate(gate, { ...decoded, shape })
  log.end(outcome)
  return describeDecoder({ c, lab, context, decoded, outcome, decoders: { reference, target } })
}

async function addBatch(decoded: DecodedBatches, batch: DecodedBatch, model: DecoderModel, lab: Lab): Promise<void> {
  const [target, baseline] = batch.followers
  await lab.step({ title: 'compare', stage: 'compare', key: null, files: false }, async () => {
    decoded.batches.push(batch)
    decoded.target.push(...measured(batch, target!, model))
    if (baseline) decoded.baseline.push(...measured(batch, baseline, model))
    return {}
  })
}

/** Sequence by sequence, on the tokens that the reference gave. */
export function measured(
  { prompts, reference }: DecodedBatch,
  side: DecodedSide,
  { eos }: DecoderModel,
): MeasuredSequence[] {
  return reference.trace.sequences.map((steps, i) => {
    const given = side.trace.sequences[i] ?? []
    const target = given.map((step, j) =>
      step.at ? { ...step, at: step.at.subarray(0, steps[j]?.top.ids.length ?? 0) } : step,
    )
    const { digest, ids } = prompts.prompts[i]!
    const place = { row: i, padded: prompts.padded.ids[i]!.length - ids.length }
    return measureSequence({ prompt: digest, reference: steps, target, eos, place })
  })
}

function stopsAfter(
  batch: DecodedBatch,
  decoded: DecodedBatches,
  c: DecoderCase,
  context: DecodersSuiteOptions,
): boolean {
  if (context.tokensOnly && batch.index === 0 && areTokensEqual(decoded)) return true
  const left = (c.batches - batch.index - 1) * c.shape.batchSize * c.shape.newTokens
  return !context.all && isSettled(c.plan.gate, decoded.target, left)
}
