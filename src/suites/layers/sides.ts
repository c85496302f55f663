import { resolve } from 'node:path'
import { SkipCase } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import { requireRuntime } from '../tensors/sides.ts'
import type { LayersCase, LayersSuiteContext } from './suite.ts'

export const SIDES = ['reference', 'target'] as const
const TAPS = { outputs: ['*'], inputs: ['*:in'], both: ['*', '*:in'] } as const

/** What is observed of every layer. */
export function layerTaps({ observe = 'outputs' }: LayersSuiteContext): readonly string[] {
  return TAPS[observe]
}

/** A case, and where its work is done. */
export interface CaseRequest<C extends LayersCase = LayersCase> {
  readonly c: C
  readonly lab: Lab
  readonly options: LayersSuiteContext
}

export const targetOf = ({ referenceTarget, underTest }: LayersCase, side: Side): Target =>
  side === 'reference' ? referenceTarget : underTest

/** What a side opens: the folder of the case, or another that its target names. */
export function sideTask({ c, lab, options }: CaseRequest, side: Side) {
  const target = targetOf(c, side)
  const path = target.options.model === undefined ? c.path : resolve(options.cwd, target.options.model)
  return { target, side, signal: lab.signal, model: { format: 'huggingface', path } } as const
}

/** Of the reference and the target; one that is not available ends the case. */
export async function requireSides(c: LayersCase, options: LayersSuiteContext): Promise<readonly RuntimeInfo[]> {
  const infos: RuntimeInfo[] = []
  for (const side of SIDES) infos.push(await requireRuntime(options, side, targetOf(c, side)))
  const { observe = 'outputs' } = options
  const blind = SIDES.find((_, i) => observe !== 'outputs' && !infos[i]!.capabilities.replay)
  if (blind) throw new SkipCase(`${targetOf(c, blind).name} cannot give what goes into layers`)
  return infos
}

export async function requireBaseline({ pool }: LayersSuiteContext, baseline: Target): Promise<void> {
  await requireRuntime({ pool, areDefaults: false }, 'reference', baseline)
}
