import { dtypeKind } from '../../domain/dtype.ts'
import { elementCount, type Tensor, type TensorSource, type Trace } from '../../domain/tensor.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { randomStream } from '../random.ts'

/** A copy of the inputs in which every finite float moved by ±`relative` of itself; null where there are no floats. */
export async function perturbInputs(inputs: Trace, relative: number, seed: number): Promise<Trace | null> {
  const sources = [...inputs.tensors.values()]
  if (!sources.some((source) => dtypeKind(source.dtype) === 'float')) return null
  const tensors = new Map<string, Tensor>()
  for (const source of sources) tensors.set(source.name, await perturbTensor(source, relative, seed))
  return memoryTrace(tensors, inputs.values)
}

async function perturbTensor(source: TensorSource, relative: number, seed: number): Promise<Tensor> {
  const random = randomStream(seed, `perturb:${source.name}`)
  return mapFloats(source, (value) => value * (1 + (random.unit() < 0.5 ? -relative : relative)))
}

/** A copy in which every float is larger by `distance`. */
export function shiftTensor(source: TensorSource, distance: number): Promise<Tensor> {
  return mapFloats(source, (value) => value + distance)
}

async function mapFloats(source: TensorSource, change: (value: number) => number): Promise<Tensor> {
  const { dtype, shape } = source
  const bytes = await readWhole(source)
  if (dtypeKind(dtype) !== 'float') return { dtype, shape, bytes }
  const values = new Float64Array(elementCount(shape))
  decodeNumbers(dtype, bytes, 0, values.length, values)
  return { dtype, shape, bytes: encodeNumbers(dtype, values.map(change)) }
}
