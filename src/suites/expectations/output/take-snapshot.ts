import { PRECISIONS, tableRule } from '../../../compare/rules/tolerances.ts'
import { dtypeKind } from '../../../domain/dtype.ts'
import { FormatError } from '../../../domain/errors.ts'
import { formatDay } from '../../../domain/expected-failure.ts'
import { declaredPrecision } from '../../tensors/rules.ts'
import { INPUTS_IN_WORDS } from '../fixed-inputs.ts'
import { type FixedRun, paddingOf } from '../run-model.ts'
import type { OutputSnapshot, SnapshotTolerance } from '../snapshot/schema.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'
import { makeSignature } from './signature.ts'

/** What a snapshot of this run holds. */
export function takeSnapshot(c: ExpectationCase, run: FixedRun, { machine }: ExpectationsContext): OutputSnapshot {
  return {
    captured: formatDay(new Date()),
    environment: describeMachine(machine),
    runtime: withoutPlaces(run.runtime),
    model_digest: run.modelDigest,
    inputs: INPUTS_IN_WORDS,
    padding: paddingOf(c),
    tolerance: chooseTolerance(c, run),
    signature: makeSignature(run.outputs, c.found.kind === 'tuple'),
    outputs: run.outputs.map(({ figures }) => figures),
  }
}

const MACHINE_KEYS = ['assay', 'node', 'platform', 'cpu']

export function describeMachine(machine: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(machine).filter(([key]) => MACHINE_KEYS.includes(key)))
}

/** Snapshots are committed, and paths of one machine mean nothing on another. */
function withoutPlaces(detail: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => !/(^|[\s(=:,])(\/|[A-Za-z]:\\)/.test(value)))
}

/** By what the target says that it computes in, else by what its outputs are. */
function chooseTolerance({ underTest }: ExpectationCase, { outputs }: FixedRun): SnapshotTolerance {
  const floats = outputs.map(({ figures }) => figures.dtype).filter((dtype) => dtypeKind(dtype) === 'float')
  const coarsest = PRECISIONS.findLast((precision) => floats.includes(precision))
  const precision = declaredPrecision(underTest) ?? coarsest ?? 'float32'
  const { tolerance, source } = tableRule(precision, 'model')
  const { rtol, relL2 } = tolerance
  if (relL2 === null) throw new FormatError('tolerance', `${source} has no limit of relL2; this is a bug in Assay`)
  return { precision, rtol, rel_l2: relL2, source }
}
