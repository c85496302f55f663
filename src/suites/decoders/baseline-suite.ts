import type { Target } from '../../domain/target.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { combineShapes, refusePositions } from '../../models/prompts/decoder-shapes.ts'
import type { Judgement, Lab, Suite } from '../../runs/contract.ts'
import { refuseSame } from '../tensors/refuse-same.ts'
import { warmUp } from '../tensors/sides.ts'
import { captureBaseline } from './baseline-files.ts'
import { type DecodedBatch, decodeBatches, prepareDecoder } from './decode-batches.ts'
import type { DecoderModel } from './decoder-model.ts'
import type { MeasuredSequence } from './gates/summarise-sequence.ts'
import { measured } from './judge-decoder.ts'
import { digestModel } from './model-identity.ts'
import { type ShapeCase, shapeCase, shapesSuite } from './shape-case.ts'
import { withModelDigests } from './store/model-digests.ts'
import type { DecodingOptions } from './suite.ts'

export interface BaselineSuiteOptions extends DecodingOptions {
  readonly models: readonly { readonly model: DecoderModel; readonly reference: Target }[]
  readonly baseline: Target
  /** Where metric files go. */
  readonly folder: string
}

interface BaselineCase extends ShapeCase {
  readonly trusted: Target
}

/** A second trusted target against the reference: what noise is normal, as metric files. */
export function baselineSuite(options: BaselineSuiteOptions): Suite {
  return shapesSuite(
    () => casesOf(options),
    (c, lab) => learn(c, lab, options),
  )
}

function casesOf({ models, baseline, shapes, tokensPerSequence }: BaselineSuiteOptions): BaselineCase[] {
  return models.flatMap(({ model, reference: trusted }) => {
    refuseSame(trusted, baseline)
    const sides = { reference: trusted.name, target: baseline.name }
    return combineShapes(shapes).map((shape) => ({ ...shapeCase(model, shape, sides, tokensPerSequence), trusted }))
  })
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
  const imported = decoded.find((batch) => batch.reference.imported !== undefined)?.reference.imported
  const version = imported === undefined ? reference.info.version : `imported from ${imported}`
  const learnt = {
    folder: options.folder,
    model: model.given,
    reference: reference.target.name,
    baseline: baseline.target.name,
    versions: { reference: version, baseline: baseline.info.version },
    digests: {
      reference: reference.model.digest,
      baseline: baseline.model.digest,
      tokenizer: model.tokenizer.digest,
      prompts: computeDigest(decoded.map(({ prompts }) => prompts.padded)),
      ...withModelDigests(await digestModel(model.folder, options.exports)),
    },
    dataset: options.prompts.source,
    shape: { ...shape, dtype: baseline.target.options.dtype ?? 'fp32' },
    topK: options.topK,
    measured: sequences,
  }
  return captureBaseline(learnt, {
    'decoders.prompts': options.prompts.source,
    'reference.version': version,
    'target.version': baseline.info.version,
  })
}
