import { SkipCase } from '../../../domain/errors.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'
import { listWeights } from './list-weights.ts'

/** Names of modules that compute several projections in one product. */
const FUSED = /(?:^|\.)(?:qkv_proj|query_key_value|c_attn|Wqkv|qkv|gate_up_proj)\.weight$/

/** Models whose projections are apart anyway need no such test. */
export async function judgeUnfused(c: ExpectationCase, lab: Lab, options: ExpectationsContext): Promise<Judgement> {
  const { weights } = await listWeights(c, lab, options)
  const fused = Object.keys(weights).filter((name) => FUSED.test(name))
  if (fused.length === 0) throw new SkipCase('no weights of this model are fused')
  throw new SkipCase(`${fused[0]} is fused, and ${c.underTest.name} cannot compute its parts one by one`)
}
