import type { Target } from '../../../domain/target.ts'
import { shortenEnd } from '../../../domain/text.ts'
import { patternTexts } from '../../../onnx/changes/changes-text.ts'
import type { GraphChanges } from '../../../onnx/changes/graph-changes.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'

/** One form of a model, as far as it could be obtained. */
export interface WrittenIr {
  /** As the files begin: `1-basic`. */
  readonly name: string
  /** null if it could not be obtained or is not ONNX. */
  readonly nodes: number | null
  /** Since the form before; null for the first. */
  readonly changes: GraphChanges | null
  /** Why there is no listing of it. */
  readonly problem: string | null
}

/** The forms of one case: one line for every form in which something changed. */
export interface IrSummary {
  readonly lines: readonly string[]
  /** Something changed, failed or is missing. */
  readonly isNotable: boolean
}

/** Names of the forms that a target gives, or why there are none. */
export async function listIr(
  pool: Pool,
  target: Target,
): Promise<{ readonly forms: readonly string[]; readonly reason: string | null }> {
  const probe = await pool.probe(target)
  if (!probe.available) return { forms: [], reason: `${target.name} is not available: ${probe.reason}` }
  const { forms = [], blobs } = probe.capabilities
  // A worker without access to our files cannot write forms.
  if (forms.length > 0 && !blobs) return { forms, reason: null }
  return { forms: [], reason: `${target.name} does not provide intermediate forms; only the given models are written` }
}

/** The README of a case has all. */
const PATTERNS_SHOWN = 1

/** `221 → 179 nodes at basic (35× Conv+BatchNormalization → Conv, …)`, `layout, all failed: the worker was killed …` */
export function summariseIr(forms: readonly WrittenIr[], note: string | null): IrSummary {
  const changed = forms.flatMap((form) => changeText(form) ?? [])
  const first = forms[0]?.nodes
  const failed = failureTexts(forms)
  const compared = forms.filter(({ changes }) => changes !== null).length
  const still = changed.length === 0 && first != null ? [stillText(first, compared)] : []
  const lines = [...still, ...changed, ...failed, note ?? ''].filter(Boolean)
  return { lines, isNotable: changed.length + failed.length > 0 }
}

/** The files have the whole text. */
const PROBLEM_WIDTH = 120

/** Forms that failed for the same reason stand together. */
function failureTexts(forms: readonly WrittenIr[]): string[] {
  const names = new Map<string, string[]>()
  for (const { name, problem } of forms) {
    if (problem !== null) names.set(problem, [...(names.get(problem) ?? []), trimNumber(name)])
  }
  return Array.from(names, ([problem, failed]) => `${failed.join(', ')} failed: ${shortenEnd(problem, PROBLEM_WIDTH)}`)
}

function stillText(nodes: number, compared: number): string {
  const count = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`
  return compared > 0 ? `${count}, the same in every form` : `${count} as given`
}

function changeText({ name, changes }: WrittenIr): string | null {
  if (!changes) return null
  const { before, after, replaced, merged } = changes
  const patterns = [...patternTexts(replaced), ...mergedText(merged.length)]
  const more = patterns.length > PATTERNS_SHOWN ? ', …' : ''
  const why = patterns.length > 0 ? ` (${patterns.slice(0, PATTERNS_SHOWN).join(', ')}${more})` : ''
  if (before.nodes !== after.nodes) return `${before.nodes} → ${after.nodes} nodes at ${trimNumber(name)}${why}`
  return replaced.length > 0 ? `${replaced.length} replaced at ${trimNumber(name)}${why}` : null
}

export function mergedText(count: number): string[] {
  return count > 0 ? [`${count} merged with equal ones`] : []
}

const trimNumber = (name: string) => name.replace(/^\d+-/, '')
