import { countBytes, type TensorSpec } from '../../domain/tensor.ts'
import { ReusedMemory } from '../worker/reused-memory.ts'
import type { OnnxRuntime, OrtTensor } from './onnxruntime.ts'
import { ORT_DTYPES, outputBytes, tensorOver } from './tensors.ts'

/** As much as is asked of a reference in one run, with what aligning takes. */
const MOST_BYTES = 2 ** 28 + 2 ** 20
const passing = new ReusedMemory(MOST_BYTES)
const lasting = new ReusedMemory(MOST_BYTES)
/** No output is this by chance, and one that was never written is not what it was in the run before. */
const UNWRITTEN = 0xa5

/** Memory for outputs whose shapes are known, by name; null: onnxruntime makes its own. */
export function placeOutputs(
  ort: Pick<OnnxRuntime, 'Tensor'>,
  names: readonly string[],
  shapes: readonly TensorSpec[],
  stays = false,
): Record<string, OrtTensor | null> {
  const placed = shapes.filter(({ name, dtype }) => names.includes(name) && isPlaceable(dtype))
  const places = (stays ? lasting : passing).take(placed.map(({ dtype, shape }) => countBytes(dtype, shape)!))
  const fetches: Record<string, OrtTensor | null> = Object.fromEntries(names.map((name) => [name, null]))
  for (const [i, spec] of placed.entries()) fetches[spec.name] = tensorOver(ort, spec, places[i]!.fill(UNWRITTEN))
  return fetches
}

/** What was put there; null: an output was not. onnxruntime-node gives a copy of each beside it, which nobody needs. */
export function takePlaced(
  places: Readonly<Record<string, OrtTensor | null>>,
  given: Readonly<Record<string, OrtTensor>>,
): Readonly<Record<string, OrtTensor>> | null {
  const placed = Object.entries(places).filter((entry): entry is [string, OrtTensor] => entry[1] !== null)
  return placed.some(([, place]) => isUnwritten(place)) ? null : { ...given, ...Object.fromEntries(placed) }
}

/** As its beginning shows. */
function isUnwritten(place: OrtTensor): boolean {
  const beginning = outputBytes(place).subarray(0, 64)
  return beginning.length > 0 && beginning.every((byte) => byte === UNWRITTEN)
}

function isPlaceable(dtype: TensorSpec['dtype']): boolean {
  return dtype !== 'string' && ORT_DTYPES.includes(dtype)
}
