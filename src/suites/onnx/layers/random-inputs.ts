import { DTYPES } from '../../../domain/dtype.ts'
import { elementCount, type TensorSource, type TensorSpec } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { randomStream } from '../../../models/random.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { memorySource } from '../../../tensors/memory-source.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import type { CutLayer } from '../../tensors/inside/cut-layer.ts'

/** Fewer numbers in a row are more likely sizes, scales or limits than data. */
const LEAST_DATA = 16
/** Both signs, and a mean that sums do not cancel out. */
const [LOW, HIGH] = [-1, 2]

/**
 * The same layer on numbers that were made up. Integers, booleans and short rows keep what the reference computed: they are
 * indices, shapes and sizes, which random ones would only break. Layers that compute the same get the same numbers.
 */
export async function withRandomInputs(cut: CutLayer, seed: number): Promise<CutLayer> {
  const tensors = new Map<string, TensorSource>()
  const parts: unknown[] = [cut.nameless.digest, seed]
  for (const [position, [name, source]] of [...cut.inputs.tensors].entries()) {
    if (!isData(source)) parts.push(computeDigest(await readWhole(source)))
    tensors.set(name, isData(source) ? randomTensor(source, `${cut.nameless.digest} ${position}`, seed) : source)
  }
  return { ...cut, inputs: { ...cut.inputs, tensors }, inputsDigest: computeDigest(parts) }
}

export function isData({ dtype, shape }: TensorSpec): boolean {
  return DTYPES[dtype].kind === 'float' && (shape.length > 1 || elementCount(shape) > LEAST_DATA)
}

function randomTensor({ name, dtype, shape }: TensorSpec, stream: string, seed: number): TensorSource {
  const random = randomStream(seed, stream)
  const values = Float32Array.from({ length: elementCount(shape) }, () => LOW + (HIGH - LOW) * random.unit())
  return memorySource(name, { dtype, shape, bytes: encodeNumbers(dtype, values) })
}
