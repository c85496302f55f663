import { countBytes, type TensorSpec } from '../../domain/tensor.ts'
import { ReusedMemory } from '../worker/reused-memory.ts'
import type { OnnxRuntime, OrtTensor } from './onnxruntime.ts'
import { ORT_DTYPES, tensorOver } from './tensors.ts'

const memory = new ReusedMemory(2 ** 26)
/** No output is this by chance, and one that was never written is not what it was in the run before. */
const UNWRITTEN = 0xa5

/** Memory for outputs whose shapes are known, by name; null: onnxruntime makes its own. */
export function placeOutputs(
  ort: Pick<OnnxRuntime, 'Tensor'>,
  names: readonly string[],
  shapes: readonly TensorSpec[],
): Record<string, OrtTensor | null> {
  const placed = shapes.filter(({ name, dtype }) => names.includes(name) && isPlaceable(dtype))
  const places = memory.take(placed.map(({ dtype, shape }) => countBytes(dtype, shape)!))
  const fetches: Record<string, OrtTensor | null> = Object.fromEntries(names.map((name) => [name, null]))
  for (const [i, spec] of placed.entries()) fetches[spec.name] = tensorOver(ort, spec, places[i]!.fill(UNWRITTEN))
  return fetches
}

function isPlaceable(dtype: TensorSpec['dtype']): boolean {
  return dtype !== 'string' && ORT_DTYPES.includes(dtype)
}
