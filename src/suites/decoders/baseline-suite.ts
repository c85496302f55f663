import type { SequenceSummary, TokenMetrics } from '../../compare/decoders/contract.ts'
import { METRICS, type MetricName } from '../../compare/decoders/contract.ts'
import type { MeasuredSequence } from '../../compare/decoders/summarise-sequence.ts'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { writeMetricFiles } from '../../files/decoders/metric-files.ts'
import { writeSequences } from '../../files/decoders/sequences-file.ts'
import { digestOf } from '../../files/digest.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import { refuseSame } from '../onnx/refuse-same.ts'
import { warmUp } from '../onnx/sides.ts'
import { type DecodedBatch, type Decoder, decodeBatches, prepareDecoder } from './decode-batches.ts'
import type { DecoderModel } from './decoder-model.ts'
import { measured, refusePositions } from './judge-decoder.ts'
import { type DecoderShape, documentedId, scopeOf, shapesOf } from './shapes.ts'
import { countedBatches, type DecodingOptions } from './suite.ts'

export interface BaselineSuiteOptions extends DecodingOptions {
  readonly models: readonly { readonly model: DecoderModel; readonly reference: Target }[]
  readonly baseline: Target
  /** Where metric files go. */
  readonly folder: string
  readonly reproduce: (id: string) => string
}

interface BaselineCase extends Case {
  readonly decoder: DecoderModel
  readonly trusted: Target
  readonly shape: DecoderShape
  readonly batches: number
}

/** A second trusted target against the reference: what noise is normal, as metric files. */
export function baselineSuite(options: BaselineSuiteOptions): Suite {
  const cases = new Map<string, BaselineCase>()
  return {
    name: 'decoders',
    async *collect() {
      for (const c of casesOf(options)) {
        cases.set(c.id, c)
        yield c
      }
    },
    judge: (c: Case, lab: Lab): Promise<Judgement> => learn(cases.get(c.id)!, lab, options),
  }
}

function* casesOf({ models, baseline, shapes, tokensPerSequence }: BaselineSuiteOptions): Generator<BaselineCase> {
  for (const { model, reference } of models) {
    refuseSame(reference, baseline)
    for (const shape of shapesOf(shapes)) {
      const scope = scopeOf(shape)
      yield {
        id: `${model.name}/${scope}@${baseline.name}`,
        suite: 'decoders',
        model: model.name,
        scope,
        reference: reference.name,
        target: baseline.name,
        aliases: [documentedId(model.given, shape)],
        affinity: `${model.name}/${scope}`,
        decoder: model,
        trusted: reference,
        shape,
        batches: countedBatches(shape, tokensPerSequence),
      }
    }
  }
}

async function learn(c: BaselineCase, lab: Lab, options: BaselineSuiteOptions): Promise<Judgement> {
  const { decoder: model, shape, batches } = c
  warmUp(options.pool, [c.trusted, options.baseline])
  refusePositions(model, shape)
  const reference = await prepareDecoder('reference', c.trusted, model, options)
  const baseline = await prepareDecoder('target', options.baseline, model, options)
  const request = { lab, model, shape, batches, reference, followers: [baseline], options }
  const decoded: DecodedBatch[] = []
  const sequences: MeasuredSequence[] = []
  for await (const batch of decodeBatches(request)) {
    decoded.push(batch)
    sequences.push(...measured(batch, batch.followers[0]!, model))
  }
  const summaries = sequences.map(({ summary }) => summary)
  refuseNothing(summaries)
  const tokens = sequences.flatMap((sequence) => sequence.tokens)
  const paths = await writeFiles({ c, options, reference, baseline, decoded, summaries, tokens })
  return {
    verdict: 'captured',
    reason: `${tokens.length} tokens of ${summaries.length} sequences: ${paths.length} files in ${options.folder}`,
    flags: [],
    coverage: { compared: tokens.length, expected: tokens.length },
    metrics: [],
    outputs: [],
    worst: [],
    figures: [`${tokens.length} tokens of ${summaries.length} sequences`, ...paths],
    measurements: {
      'decoders.prompts': options.prompts.source,
      'reference.version': reference.info.version,
      'target.version': baseline.info.version,
    },
    reproduce: options.reproduce(c.id),
  }
}

/** Noise that is no number, or of nothing, must never become a threshold. */
function refuseNothing(summaries: readonly SequenceSummary[]): void {
  const broken = summaries.findIndex(({ error, missing }) => Number.isNaN(error) || missing > 0)
  if (broken >= 0)
    throw new StageError(
      'compare',
      `sequence ${broken} has logits that are no numbers, or lacks tokens; no baseline can be learnt from it`,
    )
  if (summaries.every(({ kept }) => kept === 0)) {
    throw new StageError('compare', 'no token was kept: the reference ends every sequence at once; give other prompts')
  }
}

interface Learnt {
  readonly c: BaselineCase
  readonly options: BaselineSuiteOptions
  readonly reference: Decoder
  readonly baseline: Decoder
  readonly decoded: readonly DecodedBatch[]
  readonly summaries: readonly SequenceSummary[]
  readonly tokens: readonly TokenMetrics[]
}

async function writeFiles(learnt: Learnt): Promise<string[]> {
  const { c, options, reference, baseline, decoded, summaries, tokens } = learnt
  const shape = { ...c.shape, dtype: baseline.target.options.dtype ?? 'fp32' }
  const names = Object.entries(METRICS) as [MetricName, (typeof METRICS)[MetricName]][]
  const values = Object.fromEntries(names.map(([name, key]) => [name, tokens.map((token) => token[key])]))
  const paths = await writeMetricFiles(options.folder, c.decoder.given, shape, values as Record<MetricName, number[]>)
  const sequences = await writeSequences(options.folder, {
    model: c.decoder.given,
    reference: reference.target.name,
    baseline: baseline.target.name,
    versions: { reference: reference.info.version, baseline: baseline.info.version },
    digests: {
      reference: reference.model.digest,
      baseline: baseline.model.digest,
      tokenizer: c.decoder.tokenizer.digest,
      prompts: digestOf(decoded.map(({ prompts }) => prompts.padded)),
    },
    dataset: options.prompts.source,
    shape,
    topK: options.topK,
    created: new Date().toISOString(),
    sequences: [...summaries],
  })
  return [...paths, sequences]
}
