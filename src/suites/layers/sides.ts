import { resolve } from 'node:path'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import { requireRuntime } from '../tensors/sides.ts'
import type { LayersCase, LayersSuiteContext } from './suite.ts'

export const SIDES = ['reference', 'target'] as const
export const EVERY_LAYER = ['*']

export const targetOf = ({ referenceTarget, underTest }: LayersCase, side: Side): Target =>
  side === 'reference' ? referenceTarget : underTest

/** What a side opens: the folder of the case, or another that its target names. */
export function sideTask(c: LayersCase, side: Side, { signal }: Lab, { cwd }: LayersSuiteContext) {
  const target = targetOf(c, side)
  const path = target.options.model === undefined ? c.path : resolve(cwd, target.options.model)
  return { target, side, signal, model: { format: 'huggingface', path } } as const
}

/** Of the reference and the target; one that is not available ends the case. */
export async function requireSides(c: LayersCase, context: LayersSuiteContext): Promise<readonly RuntimeInfo[]> {
  const infos: RuntimeInfo[] = []
  for (const side of SIDES) infos.push(await requireRuntime(context, side, targetOf(c, side)))
  return infos
}

export async function requireBaseline({ pool }: LayersSuiteContext, baseline: Target): Promise<void> {
  await requireRuntime({ pool, areDefaults: false }, 'reference', baseline)
}
