import { SkipCase } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import { compareRun } from '../output/compare-run.ts'
import { describeOutputs } from '../output/describe-outputs.ts'
import { noSnapshot } from '../output/judge-output.ts'
import { takeSnapshot } from '../output/take-snapshot.ts'
import { runModel, seeded } from '../run-model.ts'
import { readSnapshot } from '../snapshot/snapshot-file.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'
import { listWeights } from './list-weights.ts'

/** Modules that compute several projections in one product. */
const FUSED = /(?:^|\.)(?:c_attn|qkv_proj|query_key_value|Wqkv|qkv|gate_up_proj)\.weight$/

/** A model whose fused projections are computed one by one must give what the snapshot of its output has. */
export async function judgeUnfused(c: ExpectationCase, lab: Lab, options: ExpectationsContext): Promise<Judgement> {
  const { weights } = await listWeights(c, lab, options)
  const fused = Object.keys(weights).find((name) => FUSED.test(name))
  if (fused === undefined) throw new SkipCase('no weights of this model are fused')
  const target = unfused(c, fused, options)
  if (c.captures) throw new SkipCase('it has no snapshot of its own, and is judged by that of output')
  const before = (await readSnapshot(c.path, c.owner))?.output
  if (!before) throw noSnapshot({ ...c, scope: 'output' }, options)
  const run = await runModel(c, lab, options, target)
  const now = takeSnapshot(c, run, options)
  const comparison = compareRun(before, now)
  const path = shownPath(c.path, options.cwd)
  return describeOutputs({ before, now, run, comparison, documented: null, other: null, path })
}

function unfused(c: ExpectationCase, fused: string, options: ExpectationsContext): Target {
  const target = seeded(c.underTest, options)
  if (!Object.hasOwn(options.pool.schemaOf(target).options, 'unfuse')) {
    throw new SkipCase(`${fused} is fused, and ${target.name} cannot compute its projections one by one`)
  }
  if (target.options.unfuse === 'true') throw new SkipCase('the target computes fused projections one by one anyway')
  return { ...target, options: { ...target.options, unfuse: 'true' } }
}
