import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FormatError } from '../../../domain/errors.ts'
import { countBytes, elementCount, formatShape, type Tensor, type TensorSource } from '../../../domain/tensor.ts'
import { explainWriteError, openAtomic, writeAt, writeFileAtomic } from '../../../files/disk/atomic.ts'
import { buildModel, type ExternalParts } from '../../../onnx/builder.ts'
import { decodeNumbers } from '../../../tensors/decode.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import type { DecoderConfig } from './decoder-config.ts'
import { decoderGraph } from './graph/decoder-graph.ts'
import type { GraphDType, WeightUse } from './graph/graph-writer.ts'
import { transpose } from './transpose.ts'
import { weightSpecs } from './weight-specs.ts'

/** Protobuf ends at 2 GiB, and a file is copied a few times while it is put together. */
const MOST_INLINE_BYTES = 1e9
const PART_ELEMENTS = 2 ** 20

export type Weights = ReadonlyMap<string, TensorSource>

export const ONNX_FILES: Readonly<Record<GraphDType, string>> = {
  float32: 'onnx/model.onnx',
  float16: 'onnx/model_fp16.onnx',
}

/** Writes the ONNX export of a decoder beside its weights; gives the files, as they are called in the folder. */
export async function exportOnnx(
  folder: string,
  config: DecoderConfig,
  weights: Weights,
  dtype: GraphDType,
  mostInlineBytes = MOST_INLINE_BYTES,
): Promise<string[]> {
  const sources = checkedWeights(config, weights)
  const { parts, weights: uses } = decoderGraph(config, dtype)
  const name = ONNX_FILES[dtype]
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true }).catch((error: unknown) => {
    throw explainWriteError(error, path)
  })
  const initializers: Record<string, Tensor> = { ...parts.initializers }
  if (totalBytes(uses, sources, dtype) <= mostInlineBytes) {
    for (const use of uses) initializers[use.name] = await initializerOf(use, sources, dtype)
    await writeFileAtomic(path, buildModel({ ...parts, initializers }))
    await rm(`${path}_data`, { force: true })
    return [name]
  }
  const external = await writeExternal(`${path}_data`, uses, sources, dtype)
  await writeFileAtomic(path, buildModel({ ...parts, external }))
  return [name, `${name}_data`]
}

/** Every weight that the configuration tells of, in its shape. */
function checkedWeights(config: DecoderConfig, weights: Weights): Weights {
  const found = new Map<string, TensorSource>()
  for (const { name, shape } of weightSpecs(config)) {
    // A model without its head was saved under shorter names.
    const source = weights.get(name) ?? weights.get(name.replace(/^(?:model|transformer)\./, ''))
    if (!source) throw wrongWeights(`there is no ${name} among its ${weights.size} tensors`)
    const isFloat = ['float32', 'float16', 'bfloat16', 'float64'].includes(source.dtype)
    if (!isFloat) throw wrongWeights(`${name} is ${source.dtype}, expected floating-point numbers`)
    if (formatShape(source.shape) !== formatShape(shape))
      throw wrongWeights(`${name} has shape ${formatShape(source.shape)}, expected ${formatShape(shape)}`)
    found.set(name, source)
  }
  return found
}

function wrongWeights(found: string): FormatError {
  return new FormatError('weights', `the weights do not match config.json: ${found}; save both together again`)
}

function totalBytes(uses: readonly WeightUse[], weights: Weights, dtype: GraphDType): number {
  return uses.reduce((sum, { weight }) => sum + (countBytes(dtype, weights.get(weight)!.shape) ?? 0), 0)
}

async function initializerOf(
  { weight, isTransposed }: WeightUse,
  weights: Weights,
  dtype: GraphDType,
): Promise<Tensor> {
  const source = weights.get(weight)!
  const bytes = converted(await readWhole(source), source, dtype)
  return isTransposed ? transpose({ dtype, shape: source.shape, bytes }) : { dtype, shape: source.shape, bytes }
}

/** Part by part: as float64 a large embedding would not fit into one array. */
function converted(bytes: Uint8Array, { dtype, shape }: TensorSource, to: GraphDType): Uint8Array {
  if (dtype === to) return bytes
  const count = elementCount(shape)
  const result = new Uint8Array(countBytes(to, shape) ?? 0)
  const part = new Float64Array(Math.min(count, PART_ELEMENTS))
  for (let first = 0; first < count; first += PART_ELEMENTS) {
    const length = Math.min(PART_ELEMENTS, count - first)
    decodeNumbers(dtype, bytes, first, length, part)
    result.set(encodeNumbers(to, part.subarray(0, length)), first * (result.length / count))
  }
  return result
}

async function writeExternal(
  path: string,
  uses: readonly WeightUse[],
  weights: Weights,
  dtype: GraphDType,
): Promise<ExternalParts[]> {
  const file = await openAtomic(path)
  const written: ExternalParts[] = []
  try {
    let offset = 0
    for (const use of uses) {
      const { bytes, shape } = await initializerOf(use, weights, dtype)
      await writeAt(file.handle, bytes, offset, path)
      written.push({ name: use.name, dtype, shape, location: path.slice(dirname(path).length + 1), offset })
      offset += bytes.length
    }
  } catch (error) {
    await file.abort()
    throw error
  }
  await file.commit()
  return written
}
