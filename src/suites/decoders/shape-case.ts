import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { DecoderModel } from './decoder-model.ts'
import { countedBatches, type DecoderShape, documentedId, scopeOf } from './shapes.ts'

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
  const scope = scopeOf(shape)
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

/** The run gives back a case by its id; what more is known about it stays here. */
export function suiteOf<C extends ShapeCase>(
  casesOf: () => Iterable<C>,
  judge: (c: C, lab: Lab) => Promise<Judgement>,
): Suite {
  const cases = new Map<string, C>()
  return {
    name: 'decoders',
    async *collect() {
      for (const c of casesOf()) {
        cases.set(c.id, c)
        yield c
      }
    },
    judge: (c: Case, lab: Lab) => judge(cases.get(c.id)!, lab),
  }
}
