import { mkdir, open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { FormatError, StageError } from '../../domain/errors.ts'
import { countBytes, formatShape, type TensorSource, type Trace, type ValueSpec } from '../../domain/tensor.ts'
import { readRange } from '../../files/disk/read-range.ts'
import { openNpy, writeNpy } from '../../files/formats/npy.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { createTraceWriter } from '../../files/formats/trace-writer.ts'
import { sendTensor } from '../worker/send-tensor.ts'
import type { TensorFiles } from './definition.ts'

/** Tensors on their way to or from a tool. */
export interface TensorPlaces {
  /** What `{inputs}` or `{outputs}` stands for: a folder, or one file that holds all. */
  readonly whole: string
  /** A file for each, in the model's order; none where one file holds all. */
  readonly files: readonly string[]
}

const ENDINGS = { npy: '.npy', raw: '.bin' } as const

/** NumPy itself has no bfloat16 and nothing of four bits; a raw file cannot hold strings. */
export function listDTypes(kind: TensorFiles): DType[] {
  const all = Object.keys(DTYPES) as DType[]
  if (kind === 'raw') return all.filter((dtype) => dtype !== 'string')
  return all.filter((dtype) => (kind === 'npy' ? NPY_DTYPES : SAFETENSORS_DTYPES).includes(dtype))
}

const PLAIN: readonly DType[] = [
  'float64',
  'float32',
  'float16',
  'int64',
  'int32',
  'int16',
  'int8',
  'uint64',
  'uint32',
  'uint16',
  'uint8',
  'bool',
]
const NPY_DTYPES: readonly DType[] = [...PLAIN, 'complex64', 'complex128', 'string']
const SAFETENSORS_DTYPES: readonly DType[] = [...PLAIN, 'bfloat16', 'float8e4m3fn', 'float8e5m2']

/** `folder/inputs/input_0.npy` … with a list in `tensors.json`, or `folder/inputs.safetensors`. */
export async function makePlaces(
  kind: TensorFiles,
  folder: string,
  name: 'input' | 'output',
  specs: readonly ValueSpec[],
): Promise<TensorPlaces> {
  const whole = join(folder, `${name}s`)
  if (kind === 'safetensors') return { whole: `${whole}.safetensors`, files: [] }
  await mkdir(whole)
  const names = specs.map((_, i) => `${name}_${i}${ENDINGS[kind]}`)
  const listed = specs.map(({ name: tensor, dtype, shape }, i) => ({ name: tensor, file: names[i], dtype, shape }))
  await writeFile(join(whole, 'tensors.json'), `${JSON.stringify(listed, null, 2)}\n`)
  return { whole, files: names.map((file) => join(whole, file)) }
}

export async function writeInputs(
  kind: TensorFiles,
  { whole, files }: TensorPlaces,
  specs: readonly ValueSpec[],
  { tensors, values }: Trace,
): Promise<void> {
  if (kind === 'safetensors') {
    const writer = createTraceWriter(whole, tensors.size)
    for (const source of tensors.values()) await sendTensor(source, writer.sink)
    return writer.finish(values)
  }
  for (const [i, { name }] of specs.entries()) {
    const source = tensors.get(name)!
    await (kind === 'npy' ? writeNpy(files[i]!, source) : writeRaw(files[i]!, source))
  }
}

async function writeRaw(path: string, source: TensorSource): Promise<void> {
  const handle = await open(path, 'w')
  try {
    for await (const bytes of source.chunks()) await handle.writeFile(bytes)
  } finally {
    await handle.close()
  }
}

/** The shapes that are known before a tool has run, which raw files need. */
export type KnownShapes = ReadonlyMap<string, readonly number[]>

/** What a tool wrote, in the order of the specs. */
export async function readOutputs(
  kind: TensorFiles,
  places: TensorPlaces,
  specs: readonly ValueSpec[],
  shapes: KnownShapes,
): Promise<TensorSource[]> {
  if (kind === 'safetensors') return readTogether(places.whole, specs)
  const outputs: TensorSource[] = []
  for (const [i, spec] of specs.entries()) {
    const path = places.files[i]!
    if (!(await exists(path))) throw missing(spec, `there is no ${path.slice(places.whole.length + 1)} in {outputs}`)
    outputs.push(
      kind === 'npy' ? await readable(spec, () => openNpy(path, spec.name)) : await openRaw(path, spec, shapes),
    )
  }
  return outputs
}

async function readTogether(path: string, specs: readonly ValueSpec[]): Promise<TensorSource[]> {
  const first = specs[0]
  if (!first) return []
  if (!(await exists(path))) throw missing(first, 'it did not write {outputs}')
  const { tensors } = await readable(first, () => openTrace(path))
  return specs.map((spec) => {
    const found = tensors.get(spec.name)
    if (found) return found
    const names = [...tensors.keys()].map((name) => JSON.stringify(name)).join(', ')
    throw missing(spec, `{outputs} holds ${names || 'no tensors'}`)
  })
}

async function openRaw(path: string, spec: ValueSpec, shapes: KnownShapes): Promise<TensorSource> {
  const [dtype, shape] = [spec.dtype!, shapes.get(spec.name)!]
  const { size } = await stat(path)
  const needed = countBytes(dtype, shape)!
  if (size !== needed) {
    const what = `${dtype} of shape ${formatShape(shape)}`
    throw new StageError(
      'run',
      `output "${spec.name}" has ${size} bytes, but ${what}, as the model declares, takes ${needed}`,
    )
  }
  return { name: spec.name, dtype, shape, byteLength: size, chunks: () => readRange(path, 0, size) }
}

async function readable<T>({ name }: ValueSpec, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new StageError('run', `output "${name}" cannot be read: ${error.message}`, { cause: error })
  }
}

function missing({ name }: ValueSpec, what: string): StageError {
  return new StageError('run', `output "${name}" was not written: ${what}`)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
