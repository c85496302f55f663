import { DTYPES } from '../../domain/dtype.ts'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { formatShape, type TensorSource, type Trace, type ValueSpec } from '../../domain/tensor.ts'

interface Declared {
  readonly inputs: readonly ValueSpec[]
  readonly outputs: readonly ValueSpec[]
}

/** A raw file does not tell its shape, so the model and its inputs must. */
export function checkRawShapes({ inputs, outputs }: Declared): void {
  const named = new Set(inputs.flatMap(({ shape }) => shape ?? []).filter((dim) => typeof dim === 'string'))
  const unknown = outputs.find(
    ({ dtype, shape }) => !dtype || !shape?.every((dim) => typeof dim === 'number' || (dim !== null && named.has(dim))),
  )
  if (!unknown) return
  const shape = unknown.shape ? formatShape(unknown.shape) : 'unknown'
  throw new StageError(
    'compile',
    `the shape of output "${unknown.name}" is ${shape}, and the inputs do not tell it; raw files need it, so use tensors: 'npy'`,
  )
}

/** Sizes of the symbolic dimensions that these inputs have. */
function boundDims(inputs: readonly ValueSpec[], { tensors }: Trace): Map<string, number> {
  const bound = new Map<string, number>()
  for (const { name, shape } of inputs) {
    const found = tensors.get(name)?.shape
    shape?.forEach((dim, axis) => {
      const size = found?.[axis]
      if (typeof dim === 'string' && size !== undefined) bound.set(dim, size)
    })
  }
  return bound
}

/** The outputs as far as they are known for these inputs. */
export function boundOutputs({ inputs, outputs }: Declared, trace: Trace): ValueSpec[] {
  const bound = boundDims(inputs, trace)
  const sized = (dim: number | string | null) => (typeof dim === 'string' ? (bound.get(dim) ?? dim) : dim)
  return outputs.map((spec) => ({ ...spec, shape: spec.shape?.map(sized) ?? null }))
}

/** Shapes without a symbolic or unknown dimension. */
export function knownShapes(specs: readonly ValueSpec[]): Map<string, readonly number[]> {
  const isKnown = (shape: ValueSpec['shape']): shape is readonly number[] =>
    shape?.every((dim) => typeof dim === 'number') ?? false
  return new Map(specs.flatMap(({ name, shape }) => (isKnown(shape) ? [[name, shape] as const] : [])))
}

/** Refuses an output that contradicts what the model declares; a precision that the target declares is its own affair. */
export function checkOutput(spec: ValueSpec, { dtype, shape }: TensorSource, { options }: Target): void {
  if (spec.shape && !fits(spec.shape, shape)) {
    throw new StageError(
      'run',
      `output "${spec.name}" has shape ${formatShape(shape)}, the model declares ${formatShape(spec.shape)}`,
    )
  }
  if (spec.dtype === null || dtype === spec.dtype) return
  const areFloats = DTYPES[dtype].kind === 'float' && DTYPES[spec.dtype].kind === 'float'
  if (areFloats && options.dtype !== undefined) return
  const hint = areFloats ? '; if another precision is intended, set dtype=' : ''
  throw new StageError('run', `output "${spec.name}" is ${dtype}, the model declares ${spec.dtype}${hint}`)
}

/** Exporters give one name to dimensions that differ, so only sizes count. */
function fits(declared: NonNullable<ValueSpec['shape']>, shape: readonly number[]): boolean {
  return declared.length === shape.length && declared.every((dim, i) => typeof dim !== 'number' || dim === shape[i])
}
