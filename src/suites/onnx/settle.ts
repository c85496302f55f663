import { NOT_REACHED, type Result } from '../../domain/result.ts'
import type { Judgement, Settle } from '../../runs/contract.ts'
import { REFERENCES_DISAGREE } from '../tensors/judging/judgement.ts'

/** Adds the verdicts of the layers to a whole model that did not pass. */
export function withLayers(judgement: Judgement, layers: readonly string[]): Judgement {
  const { verdict, flags } = judgement
  const isDoubtful = verdict === 'fail' || flags.includes('sensitive')
  if (!isDoubtful || flags.includes(REFERENCES_DISAGREE) || layers.length === 0) return judgement
  return { ...judgement, settle: settling(judgement, layers) }
}

const settling =
  ({ verdict, reason }: Judgement, layers: readonly string[]): Settle =>
  (results) => {
    const found = layers.flatMap((id) => results.get(id) ?? [])
    const wrong = found.filter((result) => result.verdict === 'fail' || result.verdict === 'error')
    if (wrong.length > 0) return { reason: `${reason}; ${whereToLook(wrong)}` }
    const passed = found.filter((result) => result.verdict === 'pass').length
    if (passed === 0 || found.length < layers.length || !found.every(isProven)) return {}
    const every = `every one of the ${passed} layers that it runs passes alone`
    if (verdict === 'fail') return { reason: `${reason}; ${every}: suspect fusion or accumulation` }
    return { verdict: 'pass', reason: `${reason}; but ${every}` }
  }

function isProven({ verdict, flags }: Result): boolean {
  return verdict === 'pass' || (verdict === 'skip' && flags.includes(NOT_REACHED))
}

function whereToLook([first, ...others]: readonly Result[]): string {
  const more =
    others.length > 0 ? `, the first of ${others.length + 1} that do not pass alone` : ', which does not pass alone'
  return `look at ${first!.scope}${more}`
}
