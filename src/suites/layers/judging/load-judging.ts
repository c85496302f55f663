import { relative, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import { type LayerThresholds, readLayerThresholds } from '../thresholds/layer-thresholds.ts'
import type { JudgingAsked } from './judging-asked.ts'

/** Where limits come from: a file, or a target that runs on the same inputs. */
export type JudgedBy = { readonly margin: number } & (
  | { readonly thresholds: LayerThresholds; readonly path: string }
  | { readonly baseline: Target }
)

/** null: nothing says what a layer may be off. */
export async function loadJudging(
  { thresholds, baseline, margin }: JudgingAsked,
  cwd: string,
): Promise<JudgedBy | null> {
  if (baseline) return { margin, baseline }
  if (thresholds === undefined) return null
  const path = resolve(cwd, thresholds)
  return { margin, thresholds: await readLayerThresholds(path), path: relative(cwd, path) || path }
}

/** Limits of another model or mode would silently judge this one wrongly. */
export function refuseOthers(judgedBy: JudgedBy | null, mode: string, models: readonly string[]): void {
  if (!judgedBy || !('thresholds' in judgedBy) || models.length === 0) return
  const { thresholds, path } = judgedBy
  if (thresholds.mode !== null && thresholds.mode !== mode) {
    throw new UsageError(
      'thresholds',
      `${path} was learnt with --mode ${thresholds.mode}; learn one with --mode ${mode}`,
    )
  }
  const others = models.filter((model) => !isOf(thresholds, model))
  if (others.length === 0) return
  const text = `${path} has the limits of "${thresholds.model}", not of ${others.join(', ')}`
  throw new UsageError('thresholds', `${text}; give the file of the same model`)
}

/** In names of files, `--` stands for the slash. */
function isOf({ model }: LayerThresholds, name: string): boolean {
  return model === name || model === name.replaceAll('/', '--')
}
