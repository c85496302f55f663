import { StageError } from '../../domain/errors.ts'
import { formatShape, type TensorSource, type Trace, tensorNames, type ValueSpec } from '../../domain/tensor.ts'

/** Refuses inputs that a session does not declare, or declares otherwise. */
export function checkInputs(specs: readonly ValueSpec[], inputs: Trace): void {
  const given = new Map(inputs.values.map((value) => [value.name, value]))
  for (const name of given.keys()) {
    if (!specs.some((spec) => spec.name === name)) throw wrong(`there is no input "${name}"; ${listed(specs)}`)
  }
  for (const spec of specs) {
    const value = given.get(spec.name)
    if (!value && (spec.kind === 'optional' || spec.optional)) continue
    if (!value) throw wrong(`input "${spec.name}" is missing; ${listed(specs)}`)
    if (value.kind !== spec.kind) throw wrong(`input "${spec.name}" is a ${value.kind}, expected a ${spec.kind}`)
    for (const tensor of tensorNames(value)) checkTensor(spec, inputs.tensors.get(tensor))
  }
}

function checkTensor(spec: ValueSpec, tensor: TensorSource | undefined): void {
  if (!tensor) throw wrong(`input "${spec.name}" has no data`)
  if (spec.dtype !== null && tensor.dtype !== spec.dtype) {
    throw wrong(`input "${spec.name}" has dtype ${tensor.dtype}, expected ${spec.dtype}`)
  }
  if (spec.kind !== 'tensor' || spec.shape === null || fits(spec.shape, tensor.shape)) return
  throw wrong(`input "${spec.name}" has shape ${formatShape(tensor.shape)}, expected ${formatShape(spec.shape)}`)
}

function fits(declared: NonNullable<ValueSpec['shape']>, shape: readonly number[]): boolean {
  return declared.length === shape.length && declared.every((dim, i) => typeof dim !== 'number' || dim === shape[i])
}

function listed(specs: readonly ValueSpec[]): string {
  return `the model takes ${specs.map((spec) => `"${spec.name}"`).join(', ') || 'no inputs'}`
}

function wrong(message: string): StageError {
  return new StageError('run', message)
}
