import { stat } from 'node:fs/promises'
import { percentile, sorted } from '../../compare/statistics/percentile.ts'
import type { Metric } from '../../domain/result.ts'
import { formatNumber } from '../../domain/text.ts'
import type { Verdict } from '../../domain/verdict.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import type { Decoder } from './decode-batches.ts'
import type { DecodedSide } from './decode-side.ts'
import { areTokensEqual, type DecodedBatches } from './decoded-batches.ts'
import type { SequenceSummary, TokenMetrics } from './gates/contract.ts'
import type { GateOutcome } from './gates/gate-choice.ts'
import type { Rate } from './gates/gates.ts'
import { effectText } from './gates/paired-gate.ts'
import type { DecoderCase, DecodersSuiteOptions } from './suite.ts'
import { writeTranscripts } from './transcript.ts'
import { wholeVocabulary } from './whole-vocabulary.ts'

export interface Described {
  readonly c: DecoderCase
  readonly lab: Lab
  readonly context: DecodersSuiteOptions
  readonly decoded: DecodedBatches
  readonly outcome: GateOutcome
  readonly decoders: { readonly reference: Decoder; readonly target: Decoder }
}

/** The result of a case: what decided, both kinds of figures, tokens in words, and what is kept with the run. */
export async function describeDecoder(described: Described): Promise<Judgement> {
  const { c, lab, context, decoded, outcome } = described
  const { judgement } = outcome
  const { verdict, reason } = verdictOf(described)
  const summaries = decoded.target.map(({ summary }) => summary)
  const figures = [tokensFigure(summaries), ...gateFigures(c, outcome)]
  if (verdict !== 'pass' || lab.keepsAll) await keepTraces(lab, decoded)
  const kept = sum(summaries.map((summary) => summary.kept))
  return {
    verdict,
    reason: c.plan.gate.note === null ? reason : `${reason} (${c.plan.gate.note})`,
    flags: flagsOf(described),
    coverage: { compared: kept - sum(summaries.map(({ missing }) => missing)), expected: kept },
    metrics: [
      ...rateMetrics(c, outcome),
      ...ratioMetrics(outcome),
      ...tokenMetricsOf(decoded),
      ...(await wholeVocabulary(decoded)),
    ],
    outputs: [],
    worst: [],
    figures,
    texts: await writeTranscripts(described, verdict !== 'pass'),
    measurements: {
      'decoders.gate': judgement.gate,
      'decoders.thresholds': c.plan.gate.limits.source,
      'decoders.prompts': context.prompts.source,
      'decoders.host_peak_mib': Math.round(process.resourceUsage().maxRSS / 2 ** 10),
      'decoders.sequences': summaries.length,
      'decoders.batches': `${decoded.batches.length} of ${c.batches}`,
      ...(await sideMeasurements('reference', described, ({ reference }) => reference)),
      ...(await sideMeasurements('target', described, ({ followers }) => followers[0]!)),
    },
  }
}

/** Equal tokens are enough if --tokens-only is given, but an error or NaN still counts. */
function verdictOf({ context, decoded, outcome: { judgement } }: Described): { verdict: Verdict; reason: string } {
  const isHard = judgement.findings.length > 0
  const isDoubtful = isHard || warningsOf(decoded).length > 0
  if (context.tokensOnly && !isDoubtful && areTokensEqual(decoded)) {
    return { verdict: 'pass', reason: 'equal tokens; its logits were not judged (--tokens-only)' }
  }
  const [warning] = warningsOf(decoded)
  if (warning !== undefined && judgement.verdict === 'pass') {
    return { verdict: 'inconclusive', reason: `${judgement.reason}; the target's device warned: ${warning}` }
  }
  return { verdict: judgement.verdict, reason: judgement.reason }
}

/** Numbers that agree although the device refused part of the work prove nothing. */
function warningsOf({ batches }: DecodedBatches): string[] {
  return [...new Set(batches.flatMap(({ followers }) => followers[0]!.warnings))]
}

function flagsOf({ c, decoded, context }: Described): string[] {
  const sides = decoded.batches.flatMap(({ reference, followers }) => [reference, ...followers])
  return [
    ...(c.plan.gate.limits.areDefaults ? ['default-thresholds'] : []),
    ...(warningsOf(decoded).length > 0 ? ['warned'] : []),
    ...(sides.some(({ retried }) => retried) ? ['retried'] : []),
    ...(decoded.batches.length < c.batches && !context.tokensOnly ? ['stopped-early'] : []),
  ]
}

/** `tokens: 30 of 32 sequences are equal; the first that differs: sequence 3 at token 17 (gap 0.02, a near tie)` */
function tokensFigure(summaries: readonly SequenceSummary[]): string {
  const differing = summaries.flatMap(({ divergence }, place) => (divergence ? [{ place, divergence }] : []))
  const head = `tokens: ${summaries.length - differing.length} of ${summaries.length} sequences are equal`
  const [first] = differing.sort((a, b) => a.divergence.step - b.divergence.step)
  if (!first) return head
  const { step, flip, isNearTie } = first.divergence
  const gap = flip ? `the reference's gap there is ${formatNumber(flip.referenceGap)}` : 'a side has no token there'
  const tie = isNearTie ? ', a near tie' : isNearTie === false ? ', not a near tie' : ''
  return `${head}; the earliest that differs: sequence ${first.place} at token ${step} (${gap}${tie})`
}

/** The gate's own figures and the documented rates, whichever decides. */
function gateFigures(c: DecoderCase, { judgement, rates }: GateOutcome): string[] {
  const ratio = judgement.gate === 'rate' ? [] : [`${judgement.gate}: ${effectText(judgement)}`]
  return [...ratio, `rate: ${rates.rates.map((rate) => rateText(rate, c)).join('; ')}`]
}

function rateText({ metric, threshold, over, kept, rate }: Rate, c: DecoderCase): string {
  return `${metric} ${over} of ${kept} at or over ${formatNumber(threshold)} = ${formatNumber(rate)} (limit ${c.plan.gate.failureRate})`
}

/** As the documented suite calls them. */
const RATE_NAMES: Readonly<Record<string, string>> = {
  diff_mean: 'mean_diff_failure_rate',
  ce: 'cross_entropy_loss_failure_rate',
}

function rateMetrics({ plan: { gate } }: DecoderCase, { judgement, rates }: GateOutcome): Metric[] {
  return rates.rates.map(({ metric, threshold, rate, kept }) => {
    const decides = judgement.gate === 'rate' && !gate.skipped.includes(metric)
    const provenance = `tokens with ${metric} at or over ${threshold}, from ${gate.limits.source}`
    const limit = decides ? { threshold: gate.failureRate } : {}
    return { name: RATE_NAMES[metric]!, direction: 'lower', value: rate, ...limit, provenance, count: kept }
  })
}

function ratioMetrics({ judgement: { effect, isAtMost, interval, limit, count, gate } }: GateOutcome): Metric[] {
  if (effect === null || gate === 'rate') return []
  const bound: Metric = {
    name: 'error_ratio_lower_bound',
    direction: 'lower',
    value: interval?.low ?? null,
    ...(interval?.low == null && { reason: 'too few sequences' }),
    threshold: limit,
    provenance: '99 % lower bound of the mean ratio of the target’s error to the baseline’s',
    count,
  }
  return [{ name: 'error_ratio', direction: 'lower', value: effect, ...provenanceOf(isAtMost), count }, bound]
}

function provenanceOf(isAtMost: boolean | undefined): Pick<Metric, 'provenance'> {
  return isAtMost ? { provenance: 'at most: tiny errors of the target count as larger than they are' } : {}
}

function tokenMetricsOf({ target }: DecodedBatches): Metric[] {
  const tokens = target.flatMap((sequence) => sequence.tokens)
  if (tokens.length === 0) return []
  const of = (read: (token: TokenMetrics) => number) => tokens.map(read)
  const lower = (name: string, value: number): Metric => ({ name, direction: 'lower', value, count: tokens.length })
  const higher = (name: string, value: number): Metric => ({ name, direction: 'higher', value, count: tokens.length })
  return [
    higher('top1_agreement', mean(of(({ agrees }) => (agrees ? 1 : 0)))),
    higher('top_k_overlap', mean(of(({ overlap }) => overlap))),
    lower('kl_mean', mean(of(({ kl }) => kl))),
    lower('kl_p99', p99(of(({ kl }) => kl))),
    lower('kl_tail_mean', mean(of(({ klTail }) => klTail))),
    lower('kl_tail_p99', p99(of(({ klTail }) => klTail))),
    lower(
      'tail_mass_difference',
      Math.max(...of(({ referenceTail, targetTail }) => Math.abs(targetTail - referenceTail))),
    ),
    lower('ce_p99', p99(of(({ ce }) => ce))),
    lower('diff_mean_p99', p99(of(({ diffMean }) => diffMean))),
    lower('prob_mean_p99', p99(of(({ probMean }) => Math.abs(probMean)))),
    lower('prob_std_p99', p99(of(({ probStd }) => probStd))),
    lower('non_finite_tokens', tokens.filter(({ nonFinite }) => nonFinite !== null).length),
  ]
}

/** NaN among them makes it NaN. */
function p99(values: readonly number[]): number {
  return values.some(Number.isNaN) ? Number.NaN : (percentile(sorted(values), 99) ?? Number.NaN)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

async function sideMeasurements(
  side: 'reference' | 'target',
  { decoded, decoders }: Described,
  of: (batch: DecodedBatches['batches'][number]) => DecodedSide,
): Promise<Record<string, string | number>> {
  const { info, model } = decoders[side]
  const sides = decoded.batches.map(of)
  const bytes = sum(await Promise.all(sides.map(async ({ path }) => (await stat(path)).size)))
  const peak = Math.max(...sides.map(({ peakBytes }) => peakBytes ?? 0))
  const imported = sides.filter((each) => each.imported !== undefined)
  const ran = sides.find((each) => each.imported === undefined)
  const timed = sides.flatMap(({ durationMs, steps }) => (durationMs === null ? [] : [{ durationMs, steps }]))
  const facts: Record<string, string | number> = {
    ...(ran && { version: info.version, ...info.detail, ...ran.detail }),
    ...(ran && model.notes && { export: model.notes.join('; ') }),
    ...(imported.length > 0 && { imported: `${imported.length} of ${sides.length} batches, ${imported[0]!.imported}` }),
    ...(timed.length > 0 && {
      ms_per_step: sum(timed.map(({ durationMs }) => durationMs)) / Math.max(1, sum(timed.map(({ steps }) => steps))),
    }),
    trace_bytes: bytes,
    ...(peak > 0 && { worker_peak_mib: Math.round(peak / 2 ** 20) }),
  }
  return Object.fromEntries(Object.entries(facts).map(([key, value]) => [`${side}.${key}`, value]))
}

/** The traces of a case that did not pass stay with the run. */
async function keepTraces(lab: Lab, { batches }: DecodedBatches): Promise<void> {
  for (const { index, reference, followers } of batches) {
    await lab.keep(`reference.${index}.safetensors`, reference.path)
    await lab.keep(`target.${index}.safetensors`, followers[0]!.path)
  }
}
