import { extname, isAbsolute, join } from 'node:path'
import { FormatError, StageError } from '../../domain/errors.ts'
import { countBytes, formatShape, type Tensor, type ValueSpec } from '../../domain/tensor.ts'
import { readExactly, withFile } from '../../files/disk/read-range.ts'
import { readNpy } from '../../files/formats/npy.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { readValueFile, type StoredValue } from '../../onnx/tensors/value-file.ts'
import { readWhole } from '../../tensors/read-whole.ts'

/** A stored input, checked against what the model declares; `shape` is that with its sizes bound, where it has one. */
export async function readInputFile(
  file: string,
  spec: ValueSpec,
  shape: readonly number[] | undefined,
  folder: string,
): Promise<StoredValue> {
  const { path, entry } = splitEntry(file)
  const absolute = isAbsolute(path) ? path : join(folder, path)
  try {
    return await readAs(absolute, entry, spec, shape)
  } catch (cause) {
    if (!(cause instanceof FormatError) && !isSystemError(cause)) throw cause
    throw new StageError('inputs', `input "${spec.name}" cannot be read from ${path}: ${cause.message}`, { cause })
  }
}

function splitEntry(file: string): { path: string; entry: string | null } {
  const match = /^(.*\.safetensors)#(.*)$/is.exec(file)
  return match ? { path: match[1]!, entry: match[2]! } : { path: file, entry: null }
}

function isSystemError(cause: unknown): cause is NodeJS.ErrnoException {
  return cause instanceof Error && 'syscall' in cause
}

async function readAs(
  path: string,
  entry: string | null,
  spec: ValueSpec,
  shape: readonly number[] | undefined,
): Promise<StoredValue> {
  const extension = extname(path).toLowerCase()
  if (extension === '.pb') return checkedValue(await readValueFile(path, spec), spec, path)
  if (extension === '.npy') return oneTensor(await readNpy(path), spec, path)
  if (extension === '.safetensors') return oneTensor(await readEntry(path, entry ?? spec.name), spec, path)
  return oneTensor(await readRaw(path, spec, shape), spec, path)
}

function oneTensor(tensor: Tensor, spec: ValueSpec, path: string): StoredValue {
  const value = { name: spec.name, kind: 'tensor', length: 1 } as const
  return checkedValue({ value, tensors: new Map([[spec.name, tensor]]) }, spec, path)
}

function checkedValue(stored: StoredValue, spec: ValueSpec, path: string): StoredValue {
  if (stored.value.kind !== spec.kind) throw mismatch(spec, path, `holds a ${stored.value.kind}`, `a ${spec.kind}`)
  for (const tensor of stored.tensors.values()) {
    if (spec.dtype && tensor.dtype !== spec.dtype) throw mismatch(spec, path, `holds ${tensor.dtype}`, spec.dtype)
    if (spec.kind === 'tensor' && !fits(tensor.shape, spec.shape)) {
      throw mismatch(spec, path, `has shape ${formatShape(tensor.shape)}`, formatShape(spec.shape!))
    }
  }
  return stored
}

function fits(shape: readonly number[], declared: ValueSpec['shape']): boolean {
  if (!declared) return true
  const agrees = (dim: number | string | null, axis: number) =>
    typeof dim !== 'number' || dim < 0 || dim === shape[axis]
  return shape.length === declared.length && declared.every(agrees)
}

function mismatch(spec: ValueSpec, path: string, found: string, expected: string): StageError {
  return new StageError('inputs', `${path} ${found}, but input "${spec.name}" takes ${expected}; give a matching file`)
}

async function readEntry(path: string, entry: string): Promise<Tensor> {
  const { tensors } = await openTrace(path)
  const source = tensors.get(entry)
  if (source) return { dtype: source.dtype, shape: source.shape, bytes: await readWhole(source) }
  const known = [...tensors.keys()].slice(0, 10).join(', ')
  throw new FormatError('entry', `it has no tensor "${entry}", only ${known}; write file.safetensors#name`)
}

async function readRaw(path: string, spec: ValueSpec, shape: readonly number[] | undefined): Promise<Tensor> {
  const byteLength = spec.dtype && shape ? countBytes(spec.dtype, shape) : null
  if (!spec.dtype || !shape || byteLength === null) {
    throw new FormatError('raw', 'a raw file needs a declared shape and a dtype of fixed size; use .npy or .pb')
  }
  const { dtype } = spec
  return withFile(path, async (handle, size) => {
    if (size === byteLength) return { dtype, shape, bytes: await readExactly(handle, 0, size, path) }
    throw new FormatError('raw', `it has ${size} bytes, but ${dtype} ${formatShape(shape)} takes ${byteLength}`)
  })
}
