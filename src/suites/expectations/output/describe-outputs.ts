import type { Metric, OutputResult, WorstPlace } from '../../../domain/result.ts'
import { formatNumber } from '../../../domain/text.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import type { Judgement } from '../../../runs/contract.ts'
import type { FixedRun } from '../run-model.ts'
import type { DocumentedFile } from '../snapshot/documented-files.ts'
import type { OutputSnapshot, SnapshotTolerance } from '../snapshot/schema.ts'
import { countRows, type OutputChange, type SignatureChange } from './compare-output.ts'
import type { RunComparison } from './compare-run.ts'

interface JudgedOutputs {
  /** null: only another tool's signature is known. */
  readonly before: OutputSnapshot | null
  readonly now: OutputSnapshot
  readonly run: FixedRun
  readonly comparison: RunComparison | null
  readonly documented: DocumentedFile<readonly number[]> | null
  /** What differs from that. */
  readonly other: string | null
  /** Of the snapshot. */
  readonly path: string
}

/** The verdict of a comparison. */
export function describeOutputs(judged: JudgedOutputs): Judgement {
  const { before, now, run, comparison, documented, other, path } = judged
  const changed = [comparison?.changed, other].filter((text) => text != null)
  const doubt =
    run.warnings[0] ?? (isConstant(now) ? 'all values of all outputs are equal, which proves nothing' : null)
  const tolerance = before && describeTolerance(before.tolerance, now.tolerance)
  const reason = changed.length > 0 ? [...changed, tolerance].filter(Boolean).join('; ') : doubt
  const { changes = [], signature = null } = comparison ?? {}
  const compared = changes.length + (documented ? 1 : 0)
  return {
    verdict: changed.length > 0 ? 'fail' : doubt === null ? 'pass' : 'inconclusive',
    ...(reason !== null && { reason }),
    flags: [...(run.retried ? ['retried'] : []), ...(tolerance === null ? [] : ['tolerance-changed'])],
    coverage: { compared, expected: (before?.outputs.length ?? 0) + (documented ? 1 : 0) },
    metrics: before ? metricsOf(changes, signature, before) : [],
    outputs: before ? changes.map((change) => outputResult(change, before)) : [],
    worst: signature ? worstPlaces(signature) : [],
    ...(before && changed.length > 0 && { figures: describeSince(before, now) }),
    ...(changed.length === 0 && tolerance !== null && { figures: [tolerance] }),
    measurements: {
      ...(before && measurementsOf(path, before, run)),
      ...(documented && { documented: documented.path }),
    },
  }
}

/** A snapshot keeps the tolerance that it was captured with. */
function describeTolerance(before: SnapshotTolerance, now: SnapshotTolerance): string | null {
  if (before.rtol === now.rtol && before.rel_l2 === now.rel_l2) return null
  const shown = ({ rel_l2, source }: SnapshotTolerance) => `relL2 ${formatNumber(rel_l2)} (${source})`
  return `judged by the limits of the snapshot, ${shown(before)}; a new one would have ${shown(now)}`
}

/** What else is not as it was: it may be the cause. */
export function describeSince(before: OutputSnapshot, now: OutputSnapshot): string[] {
  const changes = [
    ...differences(before.runtime, now.runtime),
    ...differences(before.environment, now.environment),
    ...(before.inputs === now.inputs ? [] : [`inputs: ${before.inputs} → ${now.inputs}`]),
    ...(before.model_digest === now.model_digest ? [] : ['the files of the model']),
  ]
  const since = `since the capture of ${before.captured}`
  return changes.length === 0
    ? [`${since} neither the model's files nor any recorded version changed`]
    : changes.map((change) => `changed ${since}: ${change}`)
}

function differences(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return keys
    .filter((key) => before[key] !== now[key])
    .map((key) => `${key}: ${before[key] ?? 'not recorded'} → ${now[key] ?? 'not recorded'}`)
}

function isConstant({ outputs }: OutputSnapshot): boolean {
  return outputs.every(({ count, min, max }) => count > 1 && min === max)
}

function metricsOf(
  changes: readonly OutputChange[],
  signature: SignatureChange | null,
  before: OutputSnapshot,
): Metric[] {
  const provenance = provenanceOf(before)
  const measured = changes.filter(({ problem, expected }) => problem === null && expected.count > 0)
  const [furthest] = [...measured].sort((a, b) => b.relL2 - a.relL2)
  const changed = measured.reduce((sum, { top1Changed }) => sum + top1Changed, 0)
  const rows = measured.reduce((sum, { expected }) => sum + countRows(expected), 0)
  return [
    ...(furthest ? [relL2Of(furthest, provenance)] : []),
    { name: 'top1_changed', direction: 'lower', value: changed, threshold: 0, provenance, count: rows },
    ...(signature ? [signatureMetric(signature, provenance)] : []),
  ]
}

function signatureMetric({ positions, expected, padding }: SignatureChange, provenance: string): Metric {
  const common = { name: 'signature_changed', direction: 'lower', threshold: 0, provenance } as const
  return { ...common, value: positions.length, count: expected.values.length - padding }
}

function relL2Of({ relL2, limit, expected }: OutputChange, provenance: string): Metric {
  const common = {
    name: 'rel_l2_estimate',
    direction: 'lower',
    provenance,
    count: expected.projections.length,
  } as const
  return { ...common, value: relL2, threshold: limit }
}

function provenanceOf({ captured, tolerance }: OutputSnapshot): string {
  return `${tolerance.source}, snapshot of ${captured}`
}

function outputResult(change: OutputChange, before: OutputSnapshot): OutputResult {
  const { found, problem, isOver, expected } = change
  const verdict: Verdict = isOver ? 'fail' : 'pass'
  const isMeasured = problem === null && expected.count > 0
  return {
    name: found.name,
    dtype: found.dtype,
    shape: found.shape,
    verdict,
    rule: `figures of the snapshot, relL2 ${formatNumber(change.limit)}, ${provenanceOf(before)}`,
    ...(problem !== null && { reason: problem }),
    flags: [],
    metrics: isMeasured ? [relL2Of(change, provenanceOf(before))] : [],
    mismatches: null,
    worst: [],
  }
}

const MOST_PLACES = 5

function worstPlaces({ positions, expected, found, allowed }: SignatureChange): WorstPlace[] {
  const places = positions.map((position) => {
    const [was, is] = [expected.values[position]!, found.values[position]!]
    const shown = { reference: String(was), target: String(is) }
    return { tensor: 'signature', index: [position], ...shown, error: Math.abs(is - was), allowed: allowed(was) }
  })
  return places.sort((a, b) => b.error - a.error).slice(0, MOST_PLACES)
}

export function measurementsOf(path: string, { captured }: OutputSnapshot, run: FixedRun): Judgement['measurements'] {
  const target = { ...run.runtime, run_ms: run.durationMs }
  const shown = Object.fromEntries(Object.entries(target).map(([key, value]) => [`target.${key}`, value]))
  return { snapshot: path, captured, ...shown }
}
