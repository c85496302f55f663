import type { DType } from '../../domain/dtype.ts'
import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { type Trace, tensorNames, type ValueKind, type ValueSpec } from '../../domain/tensor.ts'
import type { Capabilities, ModelRef, RuntimeInfo } from '../contract.ts'

export function refuseFormat({ accepts }: RuntimeInfo, { format }: ModelRef): void {
  if (accepts.includes(format)) return
  const taken = accepts.length > 0 ? `takes ${accepts.join(' and ')} models` : 'lists no model format that Assay knows'
  throw new StageError('compile', `it ${taken}, this is ${format}`)
}

export function refuseTaps({ name }: Target, { taps }: Capabilities): void {
  if (!taps) throw new SkipCase(`${name} cannot give taps`)
}

/** A dtype or kind of input that a worker does not list cannot be expressed there: the case is skipped. */
export function refuseInputs(target: Target, capabilities: Capabilities, inputs: Trace): void {
  for (const value of inputs.values) {
    refuseKind(target, capabilities, value.kind, 'take', 'inputs')
    for (const name of tensorNames(value)) {
      const dtype = inputs.tensors.get(name)?.dtype ?? null
      refuseDType(target, capabilities.dtypes, dtype, 'take', 'inputs')
    }
  }
}

export function refuseOutputs(target: Target, capabilities: Capabilities, outputs: readonly ValueSpec[]): void {
  const dtypes = capabilities.outputDtypes ?? capabilities.dtypes
  for (const output of outputs) {
    refuseKind(target, capabilities, output.kind, 'give', 'outputs')
    refuseDType(target, dtypes, output.dtype, 'give', 'outputs')
  }
}

function refuseKind(target: Target, { kinds }: Capabilities, kind: ValueKind, verb: string, what: string): void {
  if (!kinds.some((known) => known === kind)) throw new SkipCase(`${target.name} cannot ${verb} ${kind} ${what}`)
}

function refuseDType(target: Target, known: readonly DType[], dtype: DType | null, verb: string, what: string): void {
  if (dtype !== null && !known.includes(dtype)) throw new SkipCase(`${target.name} cannot ${verb} ${dtype} ${what}`)
}
