import { StageError, UsageError } from '../../domain/errors.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { combineShapes, type ShapeLists } from '../../models/prompts/decoder-shapes.ts'
import type { Judgement, Lab, Suite } from '../../runs/contract.ts'
import { captureBaseline } from './baseline-files.ts'
import type { DecodedBatch } from './decode-batches.ts'
import type { DecoderModel } from './decoder-model.ts'
import { measured } from './judge-decoder.ts'
import { type ShapeCase, shapeCase, shapesSuite } from './shape-case.ts'
import { FOLLOWER, type InfoPair, pairsFor } from './validation-info/info-pairs.ts'
import type { ValidationInfo } from './validation-info/validation-info.ts'

export interface ImportedBaselineOptions {
  readonly models: readonly DecoderModel[]
  readonly shapes: ShapeLists
  readonly tokensPerSequence: number
  readonly topK: number
  readonly imports: ValidationInfo
  readonly dtype: string | undefined
  /** Where metric files go. */
  readonly folder: string
}

/** What aiu-fms-testing-utils saved of both devices, as metric files; nothing is decoded. */
export function importedBaselineSuite(options: ImportedBaselineOptions): Suite {
  return shapesSuite(
    () => casesOf(options),
    (c, lab) => learn(c, lab, options),
  )
}

const SIDES = { reference: 'cpu', target: FOLLOWER }

function casesOf({ models, shapes, tokensPerSequence }: ImportedBaselineOptions): ShapeCase[] {
  return models.flatMap((model) =>
    combineShapes(shapes).map((shape) => shapeCase(model, shape, SIDES, tokensPerSequence)),
  )
}

async function learn(c: ShapeCase, lab: Lab, options: ImportedBaselineOptions): Promise<Judgement> {
  const { decoder: model, shape, batches } = c
  const { imports, topK, folder } = options
  const wanted = { model, shape, batches, dtype: options.dtype, folder: imports.folder }
  const { dtype, pairs } = pairsFor(await savedIn(imports), wanted)
  const decoded: DecodedBatch[] = []
  for (const [index, pair] of pairs.entries()) decoded.push(await importPair(c, lab, options, pair, index))
  const sequences = decoded.flatMap((batch) => measured(batch, batch.followers[0]!, model))
  const dataset = `prompts in ${imports.folder}`
  const learnt = {
    folder,
    model: model.given,
    reference: 'cpu',
    baseline: FOLLOWER,
    versions: { reference: 'imported', baseline: 'imported' },
    digests: {
      tokenizer: model.tokenizer.digest,
      prompts: computeDigest(decoded.map(({ prompts }) => prompts.padded.ids)),
    },
    dataset,
    shape: { ...shape, dtype },
    topK,
    measured: sequences,
  }
  return captureBaseline(learnt, { 'decoders.prompts': dataset, 'decoders.imported': pairs[0]!.reference.path })
}

async function savedIn(imports: ValidationInfo): ReturnType<ValidationInfo['all']> {
  try {
    return await imports.all()
  } catch (error) {
    throw error instanceof UsageError ? new StageError('import', error.message, { cause: error }) : error
  }
}

async function importPair(
  { decoder, shape }: ShapeCase,
  lab: Lab,
  { imports, topK }: ImportedBaselineOptions,
  pair: InfoPair,
  index: number,
): Promise<DecodedBatch> {
  const { batchSize: batch, promptLength, newTokens } = shape
  const [reference, follower] = await imports.pair(lab, {
    reference: pair.reference.path,
    follower: pair.follower.path,
    ...{ batch, promptLength, newTokens, topK, eos: decoder.eos, keep: 'top' },
  })
  return { index, prompts: promptsOf(pair, promptLength), reference, followers: [follower] }
}

/** Without the padding, which is zeros. */
function promptsOf({ reference: { content } }: InfoPair, promptLength: number): DecodedBatch['prompts'] {
  const padded = ('sequences' in content ? content.sequences : []).map(({ tokens }) => tokens.slice(0, promptLength))
  const prompts = padded.map((tokens) => {
    const ids = tokens.slice(
      Math.max(
        0,
        tokens.findIndex((id) => id !== 0),
      ),
    )
    return { text: '', ids, digest: computeDigest(ids) }
  })
  return { prompts, padded: { ids: padded, mask: [], positions: [] } }
}
