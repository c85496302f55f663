import { type DecoderShape, nameScope } from '../../models/prompts/decoder-shapes.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { DecoderModel } from './decoder-model.ts'
import { countedBatches, documentedId } from './shapes.ts'

/** One model in one shape. */
export interface ShapeCase extends Case {
  readonly decoder: DecoderModel
  readonly shape: DecoderShape
  readonly batches: number
}

/** By the names of both sides. */
export function shapeCase(
  decoder: DecoderModel,
  shape: DecoderShape,
  sides: { readonly reference: string; readonly target: string },
  tokensPerSequence: number,
): ShapeCase {
  const scope = nameScope(shape)
  return {
    id: `${decoder.name}/${scope}@${sides.target}`,
    suite: 'decoders',
    model: decoder.name,
    scope,
    ...sides,
    aliases: [documentedId(decoder.given, shape)],
    origin: decoder.given,
    affinity: `${decoder.name}/${scope}`,
    decoder,
    shape,
    batches: countedBatches(shape, tokensPerSequence),
  }
}

export function shapesSuite<C extends ShapeCase>(
  casesOf: () => Iterable<C>,
  judge: (c: C, lab: Lab) => Promise<Judgement>,
): Suite<C> {
  return {
    name: 'decoders',
    async *collect() {
      yield* casesOf()
    },
    judge,
  }
}
